"""Handwritten digits as documents: what is common to all of them, and what makes each what it is.

The images of scikit-learn's bundled digits are binarised; the pixels that are on are the words of a
document, and the ten digits are the groups. `hpyp` gives each topic a version for each digit, around a base
that all share; LDA of each digit has topics of its own. After Chen et al. (2015), Section 6.4, whose images
are larger.
"""

import argparse
from pathlib import Path

import bnpzoo
import numpy as np
from bnpzoo.diagnostics.differences import likeness
from bnpzoo.zoo.contract import Model
from bnpzoo.zoo.inference import latents_of
from matplotlib.figure import Figure
from sklearn.datasets import load_digits


def digits(per_class: int) -> bnpzoo.Corpus:
    """Corpus of the first images of each digit; word ``8 y + x`` is the pixel at (x, y)."""
    data = load_digits()
    chosen = np.concatenate([np.flatnonzero(data.target == digit)[:per_class] for digit in range(10)])
    on = data.data[chosen] >= 8
    return bnpzoo.Corpus(
        np.nonzero(on)[1],
        np.concatenate([[0], np.cumsum(on.sum(axis=1))]),
        n_words=64,
        group=data.target[chosen],
        group_names=[str(digit) for digit in range(10)],
    )


def versions(model: Model, corpus: bnpzoo.Corpus, sweeps: int) -> tuple[np.ndarray, dict]:
    """Topics of each digit at the last draw of a chain, float (10, K, 64), and the latents of that draw."""
    tree = bnpzoo.sample(model, corpus, chains=1, tune=sweeps, draws=1, keep=1, seed=1)
    *_, (_, _, latents) = latents_of(tree)
    words = model.frozen_topics(latents, corpus).words
    return words.reshape(10, model.n_topics, 64), latents


def draw(found: dict[str, np.ndarray], path: Path) -> None:
    """Draw topics as images, a row a topic, a column a digit; models one below the other."""
    n_topics = next(iter(found.values())).shape[1]
    figure = Figure(figsize=(6, 0.65 * n_topics * len(found) + 0.8), layout="constrained")
    for part, (name, words) in zip(figure.subfigures(len(found), 1), found.items(), strict=True):
        part.suptitle(name, fontsize=9)
        for cell, image in zip(
            part.subplots(n_topics, 10).ravel(), words.swapaxes(0, 1).reshape(-1, 8, 8), strict=True
        ):
            cell.imshow(image, cmap="gray_r", vmin=0.0)
            cell.set_axis_off()
    figure.savefig(path, dpi=160)


def main() -> None:
    """Fit both models and draw their topics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--topics", type=int, default=5)
    parser.add_argument("--per-class", type=int, default=100, help="images of each digit")
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path("digits.png"))
    arguments = parser.parse_args()
    corpus = digits(arguments.per_class)
    shared, latents = versions(bnpzoo.get("hpyp", n_topics=arguments.topics), corpus, arguments.sweeps)
    alone, _ = versions(bnpzoo.get("group_lda", n_topics=arguments.topics), corpus, arguments.sweeps)
    for k, b in enumerate(latents["b"]):
        print(f"topic {k}: b = {b:8,.1f}, likeness of the ten versions {likeness(shared[:, k]):.2f}")
    draw(
        {"hpyp: versions of the same topics": shared, "group_lda: topics of each digit": alone}, arguments.out
    )
    print(f"Wrote {arguments.out}")


if __name__ == "__main__":
    main()
