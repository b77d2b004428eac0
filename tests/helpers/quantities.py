"""Test quantities of all models by hand: draws that are spelled out, by the class of their model."""

from quantities_buffet import Focused, SparseTransfer
from quantities_labels import AuthorTopic, Dmr, DpMrm, LabeledLda, Metalda, PartiallyLabeledLda
from quantities_lda import AnAlphaAGroup, Cclda, GroupLda, Hdp, Lda, MtHdp
from quantities_poisson import Bgg, Gbn, Pfa
from quantities_responses import Medlda, Shdp, Slda
from quantities_scaling import Hdsp, Whdsp
from spelled_out import FORMS

STATES = {
    "lda": Lda,
    "group_lda": GroupLda,
    "cclda": Cclda,
    "pyp": AnAlphaAGroup,
    "hpyp": AnAlphaAGroup,
    "tpyp": AnAlphaAGroup,
    "hdp": Hdp,
    "mt_hdp": MtHdp,
    "hdsp": Hdsp,
    "whdsp": Whdsp,
    "sparse_transfer": SparseTransfer,
    "focused": Focused,
    "labeled_lda": LabeledLda,
    "partially_labeled_lda": PartiallyLabeledLda,
    "dmr": Dmr,
    "metalda": Metalda,
    "author_topic": AuthorTopic,
    "dp_mrm": DpMrm,
    "pfa": Pfa,
    "bgg": Bgg,
    "gbn": Gbn,
    "slda": Slda,
    "medlda": Medlda,
    "shdp": Shdp,
}


def state_of(name, seed):
    """Draw of a form of a model, spelled out."""
    return STATES[FORMS[name][0]](name, seed)
