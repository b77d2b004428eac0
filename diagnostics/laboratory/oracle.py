"""Exact posteriors of micro corpora, and the agreement of a chain with them.

Every value of the discrete latents is enumerated. Hyperparameters that are sampled are integrated over their
prior by randomised quasi-Monte Carlo: scrambled Sobol points through the prior's quantile function, in
independent replicates whose spread gives a standard error on every number (Owen 1997). Fixed hyperparameters
leave nothing to integrate, and all is exact.

References
----------
.. [1] A. B. Owen (1997). Monte Carlo variance of scrambled net quadrature. SIAM J. Numer. Anal. 34(5).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from arviz_stats.base.array import array_stats
from scipy.stats import qmc
from scipy.stats import t as student_t

from ...zoo.contract import Design, Model, Prior
from ...zoo.corpus import Corpus
from .subject import Bench, Subject, blaming, check_counts, name_of, reports_broken
from .verdict import FALSE_ALARM_RATE, Verdict, judge, table_of

LEAST_EFFECTIVE = 400
"""Draws, of the quantity that mixes worst, without which a rejection says nothing. Of right chains that stand
still most of the time, indicators of probability 0.05 were 3.3 MCSE away, as they should be once in a
thousand times, 140 times in a thousand at 20 to 50 effective draws, and 10 times at 250."""


class Estimate(NamedTuple):
    """A number, or an array of them, and its standard error; 0 where it is exact."""

    mean: np.ndarray
    se: np.ndarray


@dataclass(frozen=True)
class Oracle:
    """Posterior over all values of the discrete latents.

    Attributes
    ----------
    assignments : int (A, N)
        All values of ``z``.
    log_joint : float (R, S, A)
        Log probability of each of them and the data, at hyperparameter node s of replicate r. Within a
        replicate the nodes have equal weight.
    hyper : mapping of str to float (R, S, …)
        Hyperparameters at the nodes.
    """

    assignments: np.ndarray
    log_joint: np.ndarray
    hyper: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, assignments: Iterable[np.ndarray], log_joint: Callable[[np.ndarray], float]) -> "Oracle":
        """Oracle of any model whose latents are all discrete, from its log joint alone.

        Raises
        ------
        ValueError
            An assignment comes twice, the log joint of one is NaN or infinity, or all are impossible.
        """
        values = np.array([np.array(z) for z in assignments])  # copies: a generator may refill one array
        if values.ndim != 2:
            raise ValueError(f"assignments: expected an array for each, found shape {values.shape} of all")
        distinct, counts = np.unique(values, axis=0, return_counts=True)
        if (counts > 1).any():
            twice = distinct[counts.argmax()]
            raise ValueError(f"assignments: expected each once, found {twice.tolist()} {counts.max()} times")
        found = np.array([log_joint(z) for z in values], float)
        wrong = np.isnan(found) | np.isposinf(found)
        if wrong.any():
            z, value = values[wrong.argmax()].tolist(), found[wrong.argmax()]
            raise ValueError(f"log_joint of {z}: expected a finite number or -inf, found {value}")
        if not np.isfinite(found).any():
            raise ValueError("log_joint: expected a finite number for some assignment, found none")
        return cls(values, found[None, None], {})

    @classmethod
    def of_model(
        cls, model: Model, corpus: Corpus, replicates: int = 8, nodes: int = 64, seed: int = 0
    ) -> "Oracle":
        """Oracle of a model of the zoo on a micro corpus.

        Parameters
        ----------
        model : Model
        corpus : Corpus
            At most about 8 tokens.
        replicates, nodes : int
            Independent point sets and their size, a power of two; both are 1 if no hyperparameter is sampled.
        seed : int
        """
        design = Design.of(corpus)
        if not model.sampled():
            replicates = nodes = 1
        points = [
            _hyperparameter_nodes(model, design, nodes, np.random.default_rng([seed, r]))
            for r in range(replicates)
        ]
        values = np.array(list(model.assignments(corpus)))
        log_joint = [
            [[model.log_marginal(z, corpus, hyper) for z in values] for hyper in row] for row in points
        ]
        drawn = model.simulate(design, np.random.default_rng(seed)) if model.sampled() else None
        seen = () if drawn is None else model.quantities(*drawn)  # without those of topics that come and go
        hyper = {
            name: np.array([[node[name] for node in row] for row in points])
            for name in model.sampled()
            if name in seen
        }
        return cls(values, np.array(log_joint), hyper)

    def expectation(self, values: np.ndarray) -> Estimate:
        """Posterior mean of a function of the discrete latents.

        Parameters
        ----------
        values : float (A, …)
            Value of the function at each assignment.
        """
        return self._ratio(np.tensordot(self._weights.sum(1), values, axes=(1, 0)))

    def hyperparameter(self, name: str) -> Estimate:
        """Posterior mean of a hyperparameter that is sampled."""
        return self._ratio(np.einsum("rs,rs...->r...", self._weights.sum(2), self.hyper[name]))

    @property
    def log_evidence(self) -> Estimate:
        """Log probability of the data."""
        sums = self._weights.sum((1, 2))
        mean = np.asarray(self.log_joint.max() + np.log(sums.mean() / self.log_joint.shape[1]))
        return Estimate(mean, _standard_error(sums / sums.mean()))

    @property
    def probabilities(self) -> Estimate:
        """Posterior of each assignment, (A,)."""
        return self._ratio(self._weights.sum(1))

    @property
    def same_topic(self) -> Estimate:
        """P(z_i = z_j) for all pairs, (N, N)."""
        z = self.assignments
        return self.expectation((z[:, :, None] == z[:, None, :]).astype(float))

    @property
    def n_topics(self) -> Estimate:
        """Distribution of the number of topics in use; entry t of (N + 1,) is P(t topics)."""
        counts = np.array([np.unique(z).size for z in self.assignments])
        return self.expectation((counts[:, None] == np.arange(self.assignments.shape[1] + 1)).astype(float))

    @property
    def _weights(self) -> np.ndarray:
        return np.exp(self.log_joint - self.log_joint.max())

    def _ratio(self, numerators: np.ndarray) -> Estimate:
        """Ratio of means over replicates, numerators (R, …) to normalising constants, by the delta method."""
        constants = self._weights.sum((1, 2))
        mean = numerators.mean(0) / constants.mean()
        residuals = (numerators - np.multiply.outer(constants, mean)) / constants.mean()
        return Estimate(mean, _standard_error(residuals))


def _standard_error(replicates: np.ndarray) -> np.ndarray:
    n = replicates.shape[0]
    return np.zeros(replicates.shape[1:]) if n == 1 else replicates.std(axis=0, ddof=1) / np.sqrt(n)


def _hyperparameter_nodes(
    model: Model, design: Design, nodes: int, rng: np.random.Generator
) -> list[dict[str, np.ndarray]]:
    template = model.draw_hyperparameters(design, rng)
    priors = {name: prior for name, prior in model.hyperparameters().items() if isinstance(prior, Prior)}
    if not priors:
        return [template]
    sizes = [template[name].size for name in priors]
    uniform = qmc.Sobol(sum(sizes), rng=rng).random(nodes)
    columns = np.split(uniform, np.cumsum(sizes)[:-1], axis=1)
    drawn = {name: prior.quantile(u) for (name, prior), u in zip(priors.items(), columns, strict=True)}
    return [
        template | {name: drawn[name][s].reshape(template[name].shape) for name in priors}
        for s in range(nodes)
    ]


@reports_broken("oracle")
def agrees_with_oracle(
    subject: Subject,
    oracle: Oracle,
    data: Any,
    *,
    labels: Callable[[Any], np.ndarray] = lambda latents: latents["z"],
    chains: int = 4,
    draws: int = 10_000,
    warmup: int = 200,
    false_alarm_rate: float = FALSE_ALARM_RATE,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Compare long chains on `data` with the exact posterior.

    Compared are P(z_i = z_j) of all pairs, the distribution of the number of topics, and the mean of each
    hyperparameter of the oracle that the subject has among its quantities.

    Parameters
    ----------
    subject : Subject
        Its prior draws must fit `data`, unless it has a ``start``.
    oracle : Oracle
        Of `data`.
    data : data of the subject
    labels : (latents) -> int (N,)
        Topics of the tokens.
    chains, draws, warmup : int
    false_alarm_rate : float
        Over all numbers together; it holds as far as means over chains are normal, for which a rejection
        needs `LEAST_EFFECTIVE` draws. Chains that mix too slowly for that are no evidence, and "broken".
    seed : int
    progress : (done, total) -> None, optional
        Called with the chains that are done.

    Returns
    -------
    Verdict
        ``table`` holds for each number the chains' mean and MCSE, the exact value and its standard error,
        z-score and p-value.
    """
    check_counts(chains=(chains, 1), draws=(draws, 1), warmup=(warmup, 0))
    rng = np.random.default_rng(seed)
    bench = Bench(subject)
    bench.check_that_it_moves(rng)
    probe = _Probe(oracle, labels)
    paths = []
    for done in range(chains):
        kept = islice(bench.transitions(rng, bench.start(rng, data), data), warmup, warmup + draws)
        paths.append([probe(moved) for moved in kept])
        if progress is not None:
            progress(done + 1, chains)
    path = np.moveaxis(np.array(paths), 2, 0)
    mean = path.mean((1, 2))
    mcse = np.array([_mcse(one) for one in path])
    least = np.maximum(mcse, probe.least_error(chains * draws))
    z = (mean - probe.exact.mean) / np.hypot(least, probe.exact.se)
    # Welch and Satterthwaite: few replicates of the oracle make for Student's law, exact ones for the normal.
    freedom = np.full(z.size, np.inf)
    inexact = probe.exact.se > 0
    ratio = least[inexact] / probe.exact.se[inexact]
    freedom[inexact] = (len(oracle.log_joint) - 1) * (1.0 + ratio**2) ** 2
    table = table_of(
        probe.names,
        p_value=2.0 * student_t.sf(np.abs(z), freedom),
        z=z,
        mean=mean,
        mcse=mcse,
        exact=probe.exact.mean,
        se=probe.exact.se,
    )
    figures = {"chains": chains, "draws": draws, "assignments": len(oracle.assignments), "seed": seed}
    return _unless_slow(judge("oracle", name_of(subject), table, false_alarm_rate, figures), path)


def _unless_slow(verdict: Verdict, path: np.ndarray) -> Verdict:
    """Say of a rejection by chains (number, chain, draw) that mix too slowly for one that they do."""
    if verdict.status != "rejected":
        return verdict
    moving = np.flatnonzero(np.ptp(path, axis=(1, 2)) > 0.0)
    sizes = [float(array_stats.ess(path[i], method="mean")) for i in moving]  # type: ignore[arg-type]
    if not sizes or min(sizes) >= LEAST_EFFECTIVE:
        return verdict
    name = str(verdict.table["quantity"].values[moving[int(np.argmin(sizes))]])
    message = (
        f"the sampler mixes too slowly for {path[0].size} draws; effective draws of {name!r}: expected "
        f"{LEAST_EFFECTIVE} or more, found {min(sizes):.0f}: give more draws."
    )
    return replace(verdict, status="broken", message=message)


class _Probe:
    """What is compared with an oracle: indicators of pairs and of numbers of topics, then hyperparameters."""

    def __init__(self, oracle: Oracle, labels: Callable[[Any], np.ndarray]):
        n = oracle.assignments.shape[1]
        self.labels = labels
        self.pairs = np.triu_indices(n, 1)
        self.counts = np.arange(1, n + 1)
        self.hyper = list(oracle.hyper)
        same, topics = oracle.same_topic, oracle.n_topics
        hyper = [oracle.hyperparameter(name) for name in self.hyper]
        self.exact = Estimate(
            *(
                np.concatenate([a[self.pairs], b[1:], *(np.ravel(c) for c in rest)])
                for a, b, *rest in zip(same, topics, *hyper, strict=True)
            )
        )
        self.n_indicators = self.pairs[0].size + n
        self.names = [f"same_topic[{i},{j}]" for i, j in zip(*self.pairs, strict=True)]
        self.names += [f"n_topics = {t}" for t in self.counts]
        for name, estimate in zip(self.hyper, hyper, strict=True):
            index = np.ndindex(estimate.mean.shape)
            self.names += [name + (f"[{','.join(map(str, i))}]" if i else "") for i in index]

    def __call__(self, latents: Any) -> np.ndarray:
        with blaming("labels"):
            z = np.asarray(self.labels(latents))
        if z.shape != (self.counts.size,):
            raise ValueError(f"labels: expected one a token ({self.counts.size}), found shape {z.shape}")
        same = z[self.pairs[0]] == z[self.pairs[1]]
        topics = np.unique(z).size == self.counts
        with blaming("a hyperparameter of the latents"):
            hyper = [np.ravel(latents[name]) for name in self.hyper]
        return np.concatenate([same, topics, *hyper], dtype=float)

    def least_error(self, draws: int) -> np.ndarray:
        """Return the error of independent draws: a chain that misses a rare event has an MCSE of 0."""
        least = np.full(self.exact.mean.size, np.finfo(float).tiny)
        p = np.clip(self.exact.mean[: self.n_indicators], 0.0, 1.0)
        least[: self.n_indicators] = np.maximum(np.sqrt(p * (1.0 - p) / draws), 1e-12)
        return least


def _mcse(chains: np.ndarray) -> float:
    return 0.0 if np.ptp(chains) == 0 else float(array_stats.mcse(chains, method="mean"))  # type: ignore[arg-type]


def gibbs_matrix(
    assignments: np.ndarray,
    conditional: Callable[[np.ndarray, int], np.ndarray],
    canonical: Callable[[np.ndarray], np.ndarray] = lambda z: z,
) -> np.ndarray:
    """Exact transition matrix of a systematic scan, one site after the other.

    Parameters
    ----------
    assignments : int (A, N)
        All states.
    conditional : (z, i) -> float (M,)
        Weights, up to a constant, with which the sampler sets ``z[i]`` to 0, …, M - 1.
    canonical : (z) -> z
        Representative of the state that `z` stands for, where labels are exchangeable.

    Returns
    -------
    float (A, A)
        Rows are where the scan starts.
    """
    index = {tuple(z): a for a, z in enumerate(assignments)}
    sweep = np.eye(len(assignments))
    for i in range(assignments.shape[1]):
        site = np.zeros_like(sweep)
        for a, z in enumerate(assignments):
            weights = np.asarray(conditional(z.copy(), i), float)
            for label, probability in enumerate(weights / weights.sum()):
                moved = z.copy()
                moved[i] = label
                if probability > 0:
                    site[a, index[tuple(canonical(moved))]] += probability
        sweep = sweep @ site
    return sweep


def invariance_residual(transition: np.ndarray, law: np.ndarray) -> float:
    """``||law K - law||_1``: 0, up to rounding, if `law` is stationary under the matrix `transition`."""
    return float(np.abs(law @ transition - law).sum())
