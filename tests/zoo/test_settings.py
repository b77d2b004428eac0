"""Settings of a model and of what it holds."""

from dataclasses import dataclass

import numpy as np
import pytest
from bnpzoo.zoo.models import get
from bnpzoo.zoo.priors import Beta, Gamma, Hyperparameter, Range
from bnpzoo.zoo.settings import HasSettings, option, setting

SHARE = Range(lambda x: 0 < x < 1, "a number in (0, 1)", Beta)


@dataclass(frozen=True)
class Side(HasSettings):
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, benchmark=0.01)
    share: Hyperparameter = setting(0.7, range=SHARE)


@dataclass(frozen=True)
class Whole(HasSettings):
    size: int = option(10, small=2, benchmark=100)
    gamma: Hyperparameter = setting(Gamma(1.0, 1.0), reference=0.7)
    side: Side = Side()


def test_hyperparameters_are_those_of_the_whole_and_of_its_parts():
    whole = Whole()
    assert whole.hyperparameters() == {"gamma": Gamma(1.0, 1.0), "eta": Gamma(1.0, 10.0), "share": 0.7}
    assert whole.sampled() == ("gamma", "eta")
    assert whole.arguments().keys() == {"size", "gamma", "side"}
    assert whole.parts() == (whole, whole.side)
    assert whole.range_of("share") == SHARE
    assert whole.range_of("eta").prior is Gamma
    with pytest.raises(KeyError, match="Whole: no hyperparameter 'size'"):
        whole.range_of("size")


@pytest.mark.parametrize(
    ("purpose", "expected"),
    [
        ("fixed", Whole(2, 1.5, Side(0.5, 0.6))),
        ("prior", Whole(2, Gamma(2.0, 2.0), Side(Gamma(2.0, 2.0), Beta(2.0, 2.0)))),
        ("reference", Whole(2, 0.7, Side(Gamma(4.0, 4.0), Beta(4.0, 4.0)))),
        ("benchmark", Whole(100, 1.5, Side(0.01, 0.6))),
    ],
)
def test_values_for_a_purpose(purpose, expected):
    assert Whole().set_to(purpose) == expected


def test_values_replaced_in_the_whole_and_in_its_parts():
    assert Whole().replaced(size=3, eta=0.2) == Whole(size=3, side=Side(eta=0.2))
    with pytest.raises(TypeError, match="nonsense"):
        Whole().replaced(nonsense=1)


def test_values_out_of_range_are_named():
    with pytest.raises(ValueError, match=r"Side: share: expected .* in \(0, 1\) or a Beta prior, found 1"):
        Whole().replaced(share=1)
    with pytest.raises(ValueError, match=r"Whole: gamma: expected .* or a Gamma prior, found True"):
        Whole(gamma=True)


def test_whole_numbers_and_truth_values_are_checked():
    whole = Whole(size=np.int32(3))
    whole.check_whole("size", 1)
    assert type(whole.size) is int
    with pytest.raises(ValueError, match=r"^Whole: size: expected a whole number, 4 or more, found 3$"):
        whole.check_whole("size", 4)
    with pytest.raises(ValueError, match=r"^Whole: size: expected a whole number, 0 to 1,000, found 1001$"):
        Whole(size=1001).check_whole("size", 0, 1000)
    with pytest.raises(ValueError, match=r"^Whole: size: expected a whole number, 0 for none, found True$"):
        Whole(size=True).check_whole("size", 0, bounds="0 for none")
    with pytest.raises(ValueError, match=r"^Whole: size: expected True or False, found 1$"):
        Whole(size=1).check_truth("size")


def test_text_is_text():
    for names in (["section"], ("a", "b"), 5, b"x", None):
        with pytest.raises(ValueError, match=r"dmr: labels: expected text \(names"):
            get("dmr", labels=names)
    assert get("dmr", labels="a, b").labels == "a, b"
