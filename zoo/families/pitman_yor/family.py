"""What the models of Chen et al. (2015) share: documents with an alpha a group, over Pitman-Yor topics."""

from typing import Any, ClassVar, override

import numpy as np

from ...contract import Design, Equation, Hyperparameter
from ...corpus import Corpus
from ..lda.family import LdaFamily

CITATION = (
    "C. Chen, W. Buntine, N. Ding, L. Xie and L. Du. Differential topic models. IEEE Transactions on Pattern "
    "Analysis and Machine Intelligence 37(2):230-242, 2015."
)

DOCUMENTS = (
    Equation("Section 4", r"\mu_{gd} \sim \mathrm{Dir}_K(\alpha_g)", "topic proportions of a document"),
    Equation(
        "Section 4",
        r"z_i \sim \mu_{d(i)},\quad x_i \sim \phi_{g(i), z_i}",
        "topic and word of a token of group g",
    ),
)


class PitmanYorFamily(LdaFamily):
    """Base of the models with Pitman-Yor topics; a subclass says what groups share."""

    stan_program: ClassVar[str] = "lda_of_groups"
    alpha: Hyperparameter

    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """One alpha a group."""
        return design.n_groups if name == "alpha" else None

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Group of each document; all are in one where the corpus has none."""
        return np.zeros(n_documents, np.int32) if group is None else group

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        return {"C": corpus.n_groups, "collection": self.document_rows(corpus) + 1}
