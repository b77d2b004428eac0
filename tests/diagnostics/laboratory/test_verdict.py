import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.verdict import judge, table_of


@pytest.mark.parametrize("sick", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("others", [0.5, 1e-9])
def test_without_a_p_value_nothing_is_judged(sick, others):
    table = table_of(["mu", "x[1]"], p_value=np.array([others, sick]))
    verdict = judge("oracle", "toy", table, 1e-5, {"draws": 3.0})
    assert verdict.status == "broken"
    assert verdict.message == f"no p-value of 'x[1]': expected a finite number, found {sick}."
    assert verdict.figures == {"draws": 3.0}
    assert verdict.tree()["table"]["p_value"].size == 2


def test_the_smallest_p_value_decides():
    def status(*p_values):
        return judge("oracle", "toy", table_of(["a", "b"], p_value=np.array(p_values)), 1e-5).status

    assert status(1.0, 6e-6) == "passed"
    assert status(1.0, 5e-6) == "rejected"
    assert status(0.0, 1.0) == "rejected"
