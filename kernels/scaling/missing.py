"""Labels that are not known, each drawn from its conditional given all other labels.

A question is one of these: which category a document has, or whether it has a label of a set. Its answers are
as frequent as probabilities that are uniform a priori say; these are integrated out, so that an answer weighs
one more than the other documents that have it. The words see it through the scales of the document,

    prod_k s_k^n_k (1 + u s_k)^-(a_k + n_k),    a_k = alpha root_k,

the pi integrated out. Documents with questions have rows of labels of their own, with an entry for every
label that they may have, zero where they have it not.
"""

import math

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import categorical
from ..toolbox.sides import enter_document, leave_document
from .state import Labels, Questions, log_scale_of, scale_of, within_floats

NOT_ANSWERED = -1


@kernel
def set_answer(labels, questions, i, answer):
    """Set the labels of a document to an answer of question `i`."""
    questions.answer[i] = answer
    for j in range(questions.ptr[i], questions.ptr[i + 1]):
        value = 1.0 if j == questions.ptr[i] + answer - questions.may_be_none[i] else 0.0
        labels.value[questions.entry[j]] = value
        labels.by_label_value[questions.by_label_entry[j]] = value


@kernel
def count_answer(questions, i, change):
    """Add `change` to the number of documents that have the label which answers question `i`."""
    j = questions.answer[i] - questions.may_be_none[i]
    if j >= 0:
        questions.n_with[questions.label[questions.ptr[i] + j]] += change


@kernel
def log_prior_of(questions, i, answer):
    """Log weight of an answer given the labels of all other documents."""
    start, none = questions.ptr[i], questions.may_be_none[i]
    if answer < none:
        return math.log(questions.n_documents[0] - questions.n_with[questions.label[start]])
    return math.log(1.0 + questions.n_with[questions.label[start + answer - none]])


@kernel
def weigh_answers(documents, questions, scratch, i, row, n_topics):
    """Add to the log weights of the answers what the topics in the scratch make of their scales.

    The labels have no answer to question `i`.
    """
    u, log_scale, weights = documents.u[questions.document[i]], documents.log_scale, questions.weights
    start, none = questions.ptr[i], questions.may_be_none[i]
    for k in range(n_topics):
        n, others = scratch.doc_count[k], log_scale_of(documents.labels, log_scale, row, k)
        for answer in range(questions.ptr[i + 1] - start + none):
            x = others
            if answer >= none:
                x += log_scale[questions.label[start + answer - none], k]
            weights[answer] += n * x - (documents.prior[0, k] + n) * math.log(1.0 + u * within_floats(x))


@kernel
def move_labels(rng, tokens, documents, scratch, n_topics):
    """Draw every label that is not known given topics, u, the root and scales."""
    labels, questions = documents.labels, documents.questions
    for i in range(questions.document.size):
        d = questions.document[i]
        row, n_answers = tokens.group[d], questions.ptr[i + 1] - questions.ptr[i] + questions.may_be_none[i]
        weights = questions.weights[:n_answers]
        count_answer(questions, i, -1)
        for answer in range(n_answers):
            weights[answer] = log_prior_of(questions, i, answer)
        if tokens.doc_ptr[d] < tokens.doc_ptr[d + 1]:
            set_answer(labels, questions, i, NOT_ANSWERED)
            enter_document(tokens, scratch, d)
            weigh_answers(documents, questions, scratch, i, row, n_topics)
            leave_document(tokens, scratch, d)
        weights[:] = np.exp(weights - weights.max())
        set_answer(labels, questions, i, categorical(rng, weights, n_answers))
        count_answer(questions, i, 1)
        for k in range(n_topics):
            documents.scale[row, k] = scale_of(labels, documents.log_scale, row, k)


def questions_of(asked, labels: Labels, answer: np.ndarray) -> Questions:
    """Questions in the form that sweeps need.

    Parameters
    ----------
    asked : object
        With ``document``, ``ptr``, ``label``, ``may_be_none``, ``n_known`` and ``n_documents`` as in
        `Questions`, and ``row`` (M,), the row of labels of each question.
    labels : Labels
        With an entry for every label that a document may have, all of the questions zero.
    answer : int (M,)
    """
    row = np.repeat(asked.row, np.diff(asked.ptr))
    questions = Questions(
        document=np.array(asked.document, np.int64),
        ptr=np.array(asked.ptr, np.int64),
        label=np.array(asked.label, np.int64),
        entry=_places(labels.ptr, labels.label, row, asked.label),
        by_label_entry=_places(labels.by_label_ptr, labels.by_label_row, asked.label, row),
        may_be_none=np.array(asked.may_be_none, np.int64),
        answer=np.zeros(len(answer), np.int64),
        n_known=np.array(asked.n_known, np.int64),
        n_with=np.array(asked.n_known, np.int64),
        n_documents=np.array([asked.n_documents], np.int64),
        weights=np.zeros(int(np.max(np.diff(asked.ptr), initial=0)) + 1),
    )
    for i, chosen in enumerate(answer):
        set_answer(labels, questions, i, chosen)
        count_answer(questions, i, 1)
    return questions


def _places(ptr: np.ndarray, minor: np.ndarray, of_major: np.ndarray, of_minor: np.ndarray) -> np.ndarray:
    """Where entries of compressed rows are, int (n,), given the row and column of each."""
    found = [
        ptr[a] + np.flatnonzero(minor[ptr[a] : ptr[a + 1]] == b)[0]
        for a, b in zip(of_major, of_minor, strict=True)
    ]
    return np.array(found, np.int64)
