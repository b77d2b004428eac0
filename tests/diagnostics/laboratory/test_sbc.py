import arviz_plots
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.sbc import sbc
from bnpzoo.diagnostics.laboratory.sbc_runner import normalised_ranks
from scipy.stats import kstest

FAST = {"replications": 60, "draws": 31, "thin": 3}


def test_ranks_are_uniform_under_ties():
    # Truth and draws from one coarse law: KS on 4,000 ranks, false alarm 1e-5.
    # Without random ties it is rejected.
    rng = np.random.default_rng(0)
    values = rng.poisson(0.7, (4000, 8, 1)).astype(float)
    ranks = [normalised_ranks(v[0], v[1:], rng)[0] for v in values]
    assert kstest(ranks, "uniform").pvalue > 1e-5
    low = [(v[1:] < v[0]).mean() for v in values]
    assert kstest(low, "uniform").pvalue < 1e-5


def test_right_subjects_pass(normal, chinese):
    for subject in (normal(), chinese()):
        verdict = sbc(subject, **FAST, seed=1)
        assert verdict.passed, verdict
        assert np.all((verdict.table["ess_per_draw"] > 0.5) & (verdict.table["ess_per_draw"] < 2.0))


def test_wrong_subjects_are_rejected(normal, chinese):
    verdict = sbc(normal(width=2.0), replications=60, draws=31, thin=3, seed=1)
    assert verdict.status == "rejected", verdict
    verdict = sbc(chinese(mistake="smoothing", n=6), replications=120, draws=31, thin=3, seed=1)
    assert verdict.status == "rejected", verdict


def test_pilots_choose_the_thinning(normal):
    # Autocorrelation time of an AR(1) with coefficient r is (1 + r) / (1 - r): 1 and 9.
    fast = sbc(normal(correlation=0.0), replications=2, draws=5, seed=1).figures["thin"]
    slow = sbc(normal(correlation=0.8), replications=2, draws=5, seed=1).figures["thin"]
    assert 2 <= fast <= 5
    assert 12 <= slow <= 27


def test_result_is_what_arviz_plots(chinese, tmp_path):
    verdict = sbc(chinese(), **FAST, seed=1)
    group = verdict.tree()["prior_sbc"]
    assert group["n_topics"].dims == ("chain", "draw")
    assert group["same_topic"].shape == (1, 60, 3)
    assert 0.0 <= float(group["same_topic"].min()) <= float(group["same_topic"].max()) <= 1.0
    arviz_plots.plot_ecdf_pit(verdict.tree(), backend="none")
    verdict.tree().to_netcdf(tmp_path / "sbc.nc")


def test_same_ranks_whoever_computes_them(normal, tmp_path):
    expected = sbc(normal(), **FAST, seed=3).groups["prior_sbc"]
    threads = sbc(normal(), **FAST, seed=3, n_jobs=2, backend="threading").groups["prior_sbc"]
    assert threads.identical(expected)
    assert not sbc(normal(), **FAST, seed=4).groups["prior_sbc"].equals(expected)


def test_resumes_after_interruption(normal, tmp_path):
    expected = sbc(normal(), **FAST, seed=3).groups["prior_sbc"]

    class Interrupt(Exception):
        pass

    def interrupt(done, total):
        if done >= 20:
            raise Interrupt

    with pytest.raises(Interrupt):
        sbc(normal(), **FAST, seed=3, store=tmp_path, progress=interrupt)
    stored = sorted(p.name for p in tmp_path.glob("block-*.npz"))
    assert stored
    assert len(stored) < 3
    (tmp_path / "block-00002.npz").write_bytes(b"truncated")
    first = []
    again = sbc(normal(), **FAST, seed=3, store=tmp_path, progress=lambda done, total: first.append(done))
    assert first[0] >= 20
    assert again.groups["prior_sbc"].identical(expected)
    with pytest.raises(ValueError, match="another run"):
        sbc(normal(), **FAST, seed=4, store=tmp_path)


def test_posterior_sbc(normal):
    observed = np.array([2.5, 3.0, 2.0])
    verdict = sbc(normal(), **FAST, observed=observed, seed=1)
    assert verdict.passed, verdict
    assert "posterior_sbc" in verdict.groups
    wrong = sbc(Mean(normal()), replications=100, draws=31, thin=3, observed=observed, seed=1)
    assert wrong.status == "rejected", wrong


class Mean:
    """Goes wrong with more data only: posterior SBC sees it, as its second posterior is of all of them."""

    def __init__(self, right):
        self.right = right

    def __getattr__(self, name):
        return getattr(self.right, name)

    def transition(self, rng, latents, data):
        return self.right.transition(rng, latents, data) + (0.5 if data.size > 3 else 0.0)
