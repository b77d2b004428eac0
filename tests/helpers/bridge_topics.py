"""Topic sides, for bridges."""

from itertools import product

import numpy as np
from bridge_toolbox import CORPUS, Shares, Topics, corpus_of, hyper_of, log_given, own_density, tally
from scipy.special import logsumexp


def topics_of(model, values, sites, n_topics):
    """Topic side of a model. Some have a law of their own, which is seen to in tests of these families."""
    if "popularity_x" in values:
        return belief_network(model, values, sites)
    if "phi_stable" in values:
        return pitman_yor(model, values, sites)
    of_model = {"group_lda": group_lda, "cclda": cclda}
    return of_model.get(model.card.id, dirichlet)(model, values, n_topics)


def dirichlet(model, values, n_topics):
    corpus = corpus_of(model)
    phi = Shares.of(values, "phi", values["eta"] + of_seeds(model, n_topics))

    def log_tokens(latents, k):
        counts = tally((n_topics, corpus.n_words), k, corpus.words)
        return log_given(model, latents | {"z": k}, corpus) + phi.tilt(counts)

    return Topics(phi.log_density, log_tokens)


def of_seeds(model, n_topics):
    """What is added to eta for a word of a topic."""
    if model.spelled().get("topics") != "seeded":
        return 0.0
    out = np.zeros((n_topics, CORPUS.n_words))
    for k, words in enumerate(model.topics.seeds):
        out[k, list(words)] = model.topics.seed_tokens
    return out


def group_lda(model, values, n_topics):
    """Groups have topics of their own."""
    group = CORPUS.group_of_doc[CORPUS.doc_of]
    phi = Shares.of(values, "phi", values["eta"])

    def log_tokens(latents, k):
        counts = tally((CORPUS.n_groups, n_topics, CORPUS.n_words), group, k, CORPUS.words)
        return log_given(model, latents | {"z": k + n_topics * group}, CORPUS) + phi.tilt(counts)

    return Topics(phi.log_density, log_tokens)


def cclda(model, values, n_topics):
    """Tokens come from a topic or from its own form in their group; the sum is over that as well."""
    words, g = CORPUS.words, CORPUS.group_of_doc[CORPUS.doc_of]
    phi = Shares.of(values, "phi", values["eta"])
    sigma = Shares.of(values, "sigma", values["delta"])
    origin = Shares.of(values, "origin", np.array([values["gamma0"], values["gamma1"]]))
    shape = CORPUS.n_groups, n_topics, CORPUS.n_words

    def log_tokens(latents, k):
        terms = []
        for s in map(np.array, product((0, 1), repeat=CORPUS.n_tokens)):
            is_own = s == 1
            terms.append(
                log_given(model, latents | {"z": k, "own": s}, CORPUS)
                + phi.tilt(tally(shape[1:], k[~is_own], words[~is_own]))
                + sigma.tilt(tally(shape, g[is_own], k[is_own], words[is_own]))
                + origin.tilt(tally((*shape[:2], 2), g, k, s))
            )
        return logsumexp(terms)

    return Topics(phi.log_density + sigma.log_density + origin.log_density, log_tokens)


def pitman_yor(model, values, sites):
    density = Shares.of(values, "phi0", values["eta"]).log_density + own_density(values, sites, "phi_stable")
    return given_topics(model, density, np.log(sites["phi"]["value"]))


def belief_network(model, values, sites):
    others = {*hyper_of(model, values), "standard_coefficients", "weight_x"}
    of_documents = ("theta", "root", "sticks", "tasks", "mass", "log_rate", "rates_", "link_log_h", "link_x")
    of_documents += ("r_", "p_", "q_")
    own = [site for site in values if site not in others and not site.startswith(of_documents)]
    density = sum(own_density(values, sites, site) for site in own)
    return given_topics(model, density, np.repeat(np.log(sites["phi"]["value"])[None], CORPUS.n_groups, 0))


def given_topics(model, log_density, log_phi):
    """Topic side of which the words are drawn given topics themselves, float (G, K, V)."""
    corpus, group = corpus_of(model), CORPUS.group_of_doc[CORPUS.doc_of]

    def log_tokens(latents, k):
        log_words = log_phi[group, k, corpus.words].sum()
        return model.log_assignments(latents | {"z": k}, corpus) + log_words

    return Topics(log_density, log_tokens)
