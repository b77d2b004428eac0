"""Laws of the latents that a reference draws given its parameters, from the models' definitions."""

import numpy as np
from bridge_labels import authors_of
from bridge_responses import SUPERVISED, log_responses
from bridge_scaling import values_of_labels
from bridge_toolbox import CORPUS, TRUNCATION, all_topics
from scipy import stats
from scipy.special import logsumexp


def comparisons(model, draw, drawn):
    """Pairs of arrays: how many of the latents `drawn` at `draw` have some property, and its probability."""
    is_supervised = model.card.id in SUPERVISED
    law, same = laws_given_responses(model, draw) if is_supervised else laws_of_topics(draw, TRUNCATION)
    out = [pairs(model, drawn, same), *labels_of_topics(draw, drawn, law), *first_weights(draw, drawn, law)]
    latents = drawn[0].keys()
    if "own" in latents:
        out.append(origins(draw, drawn, law))
    if "log_u" in latents:
        out.append(low_u(model, draw, drawn))
    if "author" in latents:
        out.append(authors(model, draw, drawn))
    if is_supervised:
        out.append((np.sum([one["z"] == 0 for one in drawn], axis=0), law[:, 0]))
    return out


def laws_of_topics(draw, n_topics):
    """Return P(z_i = k) and P(z_i = z_j) at a draw of a reference, from the model's definition."""
    group, doc, words = CORPUS.group_of_doc, CORPUS.doc_of, CORPUS.words
    topics = draw["phi"] if draw["phi"].ndim == 3 else np.repeat(draw["phi"][None], CORPUS.n_groups, 0)
    if "psi" in draw:
        topics = (1.0 - draw["psi"][..., None]) * topics + draw["psi"][..., None] * draw["sigma"]
    of_word = topics[group[doc], :, words]
    if "mask" not in draw:
        law = of_word * draw["theta"][doc]
        law /= law.sum(axis=1, keepdims=True)
        return law, law @ law.T
    # tasks, or documents, choose sets of topics: given these, tokens are independent
    task = group[doc] if len(draw["mask"]) == CORPUS.n_groups else doc
    on = np.arange(2**n_topics)[:, None] >> np.arange(n_topics) & 1
    given = on[:, None] * of_word * np.exp(draw["log_g"][doc])
    given /= np.maximum(given.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    chances = draw["mask"][task] / draw["mask"][task].sum(axis=1, keepdims=True)
    law = np.einsum("im,mik->ik", chances, given)
    together = np.einsum("im,mik,mjk->ij", chances, given, given)
    return law, np.where(task[:, None] == task, together, law @ law.T)


def laws_given_responses(model, draw):
    """See `laws_of_topics`, of a supervised model: topics of a document depend on each other."""
    ways = list(all_topics(TRUNCATION))
    of_word = (draw["theta"][CORPUS.doc_of] * draw["phi"][:, CORPUS.words].T)[
        np.arange(CORPUS.n_tokens), ways
    ]
    log_p = np.log(of_word).sum(axis=1) + [log_responses(model, draw, z) for z in ways]
    chances = np.exp(log_p - logsumexp(log_p))
    each = np.array(ways)[:, :, None] == np.arange(TRUNCATION)
    return np.einsum("w,wik->ik", chances, each), np.einsum("w,wik,wjk->ij", chances, each, each)


def pairs(model, drawn, same):
    """Two tokens have the same topic."""
    if model.card.id == "group_lda":  # topics of groups have numbers of their own
        same = same * (CORPUS.group_of_doc[CORPUS.doc_of][:, None] == CORPUS.group_of_doc[CORPUS.doc_of])
    i, j = np.triu_indices(CORPUS.n_tokens, 1)
    return np.sum([one["z"][i] == one["z"][j] for one in drawn], 0), same[i, j]


def labels_of_topics(draw, drawn, law):
    """The topic of a token is one of a label, where labels have sticks."""
    if drawn[0].get("root", np.zeros(1)).ndim == 1:
        return
    label = np.array([one["root"][:, one["z"]].argmax(axis=0) for one in drawn])
    for j in range(len(draw["root"])):
        own = slice(TRUNCATION * j, TRUNCATION * (j + 1))
        yield np.sum(label == j, axis=0), law[:, own].sum(axis=1)


def first_weights(draw, drawn, law):
    """The topic of a token has the weight of the first topic of the reference."""
    for of_topic in ("root", "strength", "shape", "b"):
        if of_topic in drawn[0] and drawn[0][of_topic].ndim == 1:
            first = [one[of_topic][one["z"]] == draw[of_topic][0] for one in drawn]
            yield np.sum(first, axis=0), law[:, 0]


def origins(draw, drawn, law):
    """A token comes from the form that its topic has in its group."""
    psi, (k, w) = draw["psi"], (slice(None), CORPUS.words)
    group = CORPUS.group_of_doc[CORPUS.doc_of]
    sigma = psi[group] * draw["sigma"][group, k, w]
    own = law * sigma / (sigma + (1.0 - psi[group]) * draw["phi"].T[w])
    return np.sum([one["own"] for one in drawn], axis=0), own.sum(axis=1)


def low_u(model, draw, drawn):
    """The u of a document is below its rate: sum(pi) ~ Gamma(alpha, rate) and u ~ Gamma(n, sum(pi)).

    So u / rate is beta prime.
    """
    rate = np.sum(draw["theta"] * np.exp(-values_of_labels(model) @ draw["log_scale"]), axis=1)
    is_low = [one["log_u"] < np.log(rate) for one in drawn]
    filled = CORPUS.doc_lengths > 0
    law_of_u = stats.betaprime(CORPUS.doc_lengths[filled], draw["alpha"])
    return np.sum(is_low, axis=0)[filled], law_of_u.cdf(1.0)


def authors(model, draw, drawn):
    """A token has an author; given words, author and topic have a joint law."""
    own, n_authors = authors_of(model)
    is_own = np.array([np.isin(np.arange(n_authors), own[d]) for d in CORPUS.doc_of])
    chances = is_own * (draw["of_author"] @ draw["phi"][:, CORPUS.words]).T
    chances /= chances.sum(axis=1, keepdims=True)
    by = np.array([one["author"] for one in drawn])[:, :, None] == np.arange(n_authors)
    return by.sum(axis=0).ravel(), chances.ravel()
