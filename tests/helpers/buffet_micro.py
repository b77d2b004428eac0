"""A micro corpus for models with masks."""

from bnpzoo.zoo.corpus import Corpus

MICRO = Corpus([0, 0, 0, 1, 2, 1, 1, 0], [0, 2, 5, 6, 8], n_words=3, group=[0, 0, 1, 1])
"""Two tasks of two documents."""

HYPER = {"alpha": 1.5, "epsilon": 0.6, "eta": 0.3, "a1": 2.0, "a2": 0.5}
"""Hyperparameters of `sparse_transfer` under which everything moves."""
