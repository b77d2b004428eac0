"""Samplers of a user's own as targets of blind audits: which of their code is changed."""

import pytest
from bnpzoo.diagnostics.laboratory.blind.audit import audit
from bnpzoo.diagnostics.laboratory.blind.targets import OwnSampler

WITHOUT_VERDICTS = """\
from math import sqrt


class Coin:
    def draw_latents(self, rng):
        return self.bias(rng.random()) + 1

    def bias(self, p):
        return p / 2

    def draw_data(self, rng, latents):
        return latents - 3

    def transition(self, rng, latents, data):
        return scaled(latents)

    def quantities(self, latents, data):
        more = self.bias(latents) + self.draw_data(None, latents)
        return {"x": self.log_joint(latents) + scaled(SCALE) + more}

    def log_joint(self, latents):
        return logit(latents) + 1


def scaled(x):
    return x * SHIFT


def logit(x):
    return x - 1


SCALE = 3
SHIFT = 2
coin = Coin()
"""


@pytest.mark.parametrize("name", ["Coin", "coin"])
def test_test_quantities_are_changed_where_own_verdicts_may_notice(tmp_path, name):
    file = tmp_path / "coin.py"

    def changed():
        return {site[0].definition for site in OwnSampler(f"{file}:{name}").sites} - {"coin"}

    file.write_text(WITHOUT_VERDICTS)
    moving = {"Coin.draw_latents", "Coin.draw_data", "Coin.bias", "Coin.transition", "scaled", "SHIFT"}
    assert changed() == moving
    file.write_text(WITHOUT_VERDICTS.replace("from math import sqrt", "from judge import verdicts"))
    assert changed() == moving | {"Coin.quantities", "Coin.log_joint", "logit", "SCALE"}


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Typo", "expected 'Typo' in it, a subject"),
        ("", "expected '' in it"),
        ("sqrt", r"coin\.py: sqrt is imported from math; name the file that defines it"),
    ],
)
def test_names_that_are_not_in_the_file(tmp_path, name, error):
    (tmp_path / "coin.py").write_text(WITHOUT_VERDICTS)
    with pytest.raises(ValueError, match=error):
        audit(OwnSampler(f"{tmp_path / 'coin.py'}:{name}"), 1)


@pytest.mark.parametrize(
    "bound",
    [
        "one: Coin = Coin()",
        "one, other = Coin(), Coin()",
        "[other, (one, *more)] = made()",
        "one = other = Coin()",
        "if True:\n    one = Coin()\nelse:\n    one = None",
        "try:\n    import tomllib\nexcept ImportError:\n    one = None\nelse:\n    one = Coin()",
        "with open(0):\n    one = Coin()",
        "match 1:\n    case 1:\n        one = Coin()",
    ],
)
def test_a_sampler_may_be_named_in_many_ways(tmp_path, bound):
    (tmp_path / "coin.py").write_text(f"{WITHOUT_VERDICTS}\ndef made():\n    return Coin()\n\n{bound}\n")
    found = {site[0].definition for site in OwnSampler(f"{tmp_path / 'coin.py'}:one").sites}
    assert {"Coin.transition", "scaled", "SHIFT"} <= found


def test_what_runs_only_in_a_script_is_left_alone(tmp_path):
    script = 'if __name__ == "__main__":\n    x = 3\n    SHIFT = 4\n'
    (tmp_path / "coin.py").write_text(WITHOUT_VERDICTS + script)
    sites = OwnSampler(f"{tmp_path / 'coin.py'}:coin").sites
    assert not any(site[0].line > WITHOUT_VERDICTS.count("\n") for site in sites)


def test_a_file_that_is_no_python(tmp_path):
    (tmp_path / "coin.py").write_text("x = 1\nclass Coin\n")
    with pytest.raises(ValueError, match=r"coin\.py:2: expected ':'"):
        OwnSampler(f"{tmp_path / 'coin.py'}:Coin")


@pytest.mark.parametrize("beginning", [b"\xef\xbb\xbf", b"# -*- coding: latin-1 -*-\n# \xe9\n"])
def test_a_file_in_which_places_are_others(tmp_path, beginning):
    (tmp_path / "coin.py").write_bytes(beginning + WITHOUT_VERDICTS.encode())
    with pytest.raises(ValueError, match=r"coin\.py: expected UTF-8 without a byte order mark, found"):
        OwnSampler(f"{tmp_path / 'coin.py'}:Coin")
