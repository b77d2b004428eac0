"""What the cards of models of sentences say."""

import pytest
from bnpzoo.zoo.families.segments.family import SegmentsFamily
from bnpzoo.zoo.models import MODELS
from bnpzoo.zoo.priors import Prior

OF_SENTENCES = [name for name, cls in MODELS.items() if issubclass(cls, SegmentsFamily)]


@pytest.mark.parametrize("name", OF_SENTENCES)
def test_a_card_tells_what_the_paper_fixes_and_the_package_samples(name):
    model = MODELS[name]()
    assert isinstance(model.kappa, Prior)
    assert isinstance(model.eta, Prior)
    assert "kappa = eta = 1" in " ".join(model.card.errata)
