"""How numbers of things and names are said."""

import pytest
from bnpzoo.zoo.wording import counted, not_among, printable, shortest


@pytest.mark.parametrize(("n", "told"), [(0, "0 quantities"), (1, "1 quantity"), (1234, "1,234 quantities")])
def test_what_is_counted_is_one_or_several(n, told):
    assert counted(n, "quantity", "quantities") == told
    assert counted(n, "draw") == told.replace("quantities", "draws").replace("quantity", "draw")


def test_a_name_that_was_meant_is_told_first():
    assert (
        not_among("model", "hpd", ["hdp", "lda"])
        == "no model 'hpd' (did you mean 'hdp'?); there are hdp, lda"
    )
    assert not_among("model", "xyz", ["hdp", "lda"]) == "no model 'xyz'; there are hdp, lda"


def test_control_characters_are_shown_and_not_obeyed():
    assert printable("\x1b[31mred\x07\r\x9b0m \uffff") == "\ufffd[31mred\ufffd\ufffd\ufffd0m \ufffd"
    assert printable("tab\tline\nà कि 😀") == "tab\tline\nà कि 😀"


def test_what_is_no_name_is_not_among_names():
    for odd in (None, 3):
        assert not_among("model", odd, ["hdp", "lda"]).startswith(f"no model {odd!r}")


def test_a_number_comes_back_from_its_shortest_text():
    for number in (0.1, 1 / 3, 20240101.0, 1e300, -2.0, 12345678.9):
        assert float(shortest(number)) == number
    assert [shortest(number) for number in (2.0, 0.5, 20240102.0)] == ["2", "0.5", "20240102"]
