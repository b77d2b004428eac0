"""Deliberately wrong kernels of the models of several collections; see `registry`."""

from ....zoo.families.lda.seeded import Seeded
from ....zoo.models.cclda import Cclda
from ....zoo.models.group_lda import GroupLda
from ....zoo.models.lda import Lda
from ..patched import Change, Mutant


def _cclda(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(f"cclda-{name}", (Cclda,), Change("lda/cclda.py", find, replace), about, "dense")


def _seeded(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(f"seeded-{name}", (Seeded,), Change("lda/seeded.py", find, replace), about)


def _blocked(name: str, find: str, replace: str, about: str, file: str = "toolbox/blocked.py") -> Mutant:
    return Mutant(f"blocked-{name}", (Lda,), Change(file, find, replace), about, "parallel")


def _parallel(name: str, find: str, replace: str, about: str) -> Mutant:
    return _blocked(name, find, replace, about, "lda/parallel.py")


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "lengths-of-all-collections",
        (GroupLda,),
        Change("lda/documents.py", "lengths[tokens.group == g]", "lengths"),
        "the alpha of a collection is drawn given the lengths of all documents",
    ),
    Mutant(
        "topics-of-all-collections",
        (GroupLda,),
        Change("lda/documents.py", "np.count_nonzero(documents.may_have[g])", "documents.may_have.shape[1]"),
        "the alpha of a collection is drawn as if its documents could have the topics of the others",
    ),
    Mutant(
        "alpha-of-all-topics",
        (Lda,),
        Change(
            "lda/documents.py",
            "documents.alpha_prior[0] + tables[g, k]",
            "documents.alpha_prior[0] + tables[g].sum()",
        ),
        "the alpha of a topic is drawn given the tables of all topics",
        requires={"symmetric": False},
    ),
    Mutant(
        "companion-of-one-topic",
        (Lda,),
        Change(
            "lda/documents.py",
            "documents.prior[g].sum(), float(length)",
            "documents.prior[g, 0], float(length)",
        ),
        "the companions of the alphas are drawn given one of these in place of their sum",
        requires={"symmetric": False},
    ),
    Mutant(
        "cclda-parts-forgotten",
        (Cclda,),
        Change("toolbox/random.py", "rate -= parts * log_beta_variate", "rate -= log_beta_variate"),
        "the rate of alpha lacks the factor K",
        "dense",
    ),
    _cclda(
        "own-count-kept",
        "                doc_count[old] -= 1\n",
        "",
        "a token is not taken out of the counts of its document",
    ),
    _cclda(
        "shared-total-of-one",
        "/ (topics.total[0, k] + n_words * eta)",
        "/ (n_shared + n_words * eta)",
        "shared words are normalised by the tokens of one collection",
    ),
    _cclda(
        "origin-not-normalised",
        " / (gamma0 + gamma1 + n_shared + n_own)",
        "",
        "that a topic has many tokens in a collection makes it more likely, by its counts of origins",
    ),
    _cclda(
        "origins-swapped",
        "in_document * (gamma1 + n_own)",
        "in_document * (gamma0 + n_own)",
        "own words have the Beta parameter of shared ones",
    ),
    _cclda(
        "own-words-of-eta",
        "/ (n_own + n_words * delta)",
        "/ (n_own + n_words * eta)",
        "own words are normalised with the parameter of shared ones",
    ),
    _cclda(
        "shared-count-stale",
        "    if own == 0:\n",
        "    if own == 0 and change > 0:\n",
        "a collection's tokens with shared words are counted in and never out",
    ),
    _cclda(
        "counts-for-tables",
        "tables1 += crt(rng, n1, gamma1)",
        "tables1 += n1",
        "every token with an own word has a table of its own when gamma1 is drawn",
    ),
    _cclda(
        "mass-of-one-origin",
        "log_beta_variate(rng, gamma0 + gamma1, float(n0 + n1))",
        "log_beta_variate(rng, gamma0, float(n0 + n1))",
        "the mass of both origins is taken for that of shared words when they are drawn",
    ),
    _cclda(
        "delta-of-shared-words",
        "topics.delta, topics.count[1:], topics.total[1:]",
        "topics.delta, topics.count[:1], topics.total[:1]",
        "the parameter of own words is drawn given the shared ones",
    ),
    _seeded(
        "total-of-corpus",
        "        topics.total[k] += more\n",
        "",
        "topics are normalised as if each seed were a single token",
    ),
    _seeded(
        "counted-once",
        "        topics.listed_count[topics.word_ptr[w] + topics.n_listed[w] - 1] += more\n",
        "",
        "a seed counts as a single token of its word",
    ),
    _seeded(
        "of-next-topic",
        "seed_topic=topic,",
        "seed_topic=(topic + 1) % n_topics,",
        "the seeds of a topic are those of the next one",
    ),
    _seeded(
        "tokens-are-data",
        "return out - target.n_seeds * (math.lgamma(eta + target.seed_tokens) - math.lgamma(eta))",
        "return out",
        "the smoothing is drawn as if seeds' tokens had been drawn with it",
    ),
    _seeded(
        "totals-are-data",
        "            out -= math.lgamma(mass) - math.lgamma(mass + n)\n",
        "            pass\n",
        "the smoothing is drawn as if the totals of seeds had been drawn with it",
    ),
    _seeded(
        "total-of-one",
        "out[k] += topics.seed_tokens[0]",
        "out[k] = topics.seed_tokens[0]",
        "the smoothing is drawn as if each topic had a single seed",
    ),
    _parallel(
        "shares-stale",
        "        draw_shares(rng, topics)\n",
        "        if np.ptp(topics.share) == 0.0:\n            draw_shares(rng, topics)\n",
        "shares are drawn once and stay as they are",
    ),
    _blocked(
        "shares-of-prior",
        "topics.eta[0] * n_words + topics.block_total[b, k]",
        "topics.eta[0] * n_words",
        "shares are drawn from their prior, as if there were no tokens",
    ),
    _blocked(
        "shares-of-one-word",
        "topics.eta[0] * n_words + topics.block_total[b, k]",
        "topics.eta[0] + topics.block_total[b, k]",
        "shares are drawn as if each block had a single word",
    ),
    _blocked(
        "shares-forgotten-by-tokens",
        "level = share / (block_total + smoothing)",
        "level = np.ones(share.size) / (block_total + smoothing)",
        "a token that does not know the levels of topics takes all blocks for equally likely",
    ),
    _blocked(
        "shares-for-all-words",
        "smoothing = topics.eta[0] * (cells.word_ptr[block + 1] - cells.word_ptr[block])",
        "smoothing = topics.eta[0] * topics.n_listed.size",
        "the words of a block are normalised with eta V instead of eta |V_b|",
    ),
    _blocked(
        "total-of-next-block",
        "for w in range(topics.cells.word_ptr[b], topics.cells.word_ptr[b + 1]):",
        "for w in range(topics.cells.word_ptr[b], topics.cells.word_ptr[min(b + 2, len(topics.share))]):",
        "the totals of a block include those of the next one",
    ),
    _blocked(
        "total-of-shard",
        "topics.share[block], topics.block_total[block]\n",
        "topics.share[block], topics.block_total[shard]\n",
        "a cell counts with the totals of the block that has the number of its shard",
    ),
    _blocked(
        "total-stale",
        "    block_total[new] += 1\n",
        "    block_total[new] += new < 0\n",
        "tokens that come into a topic are missing from its total in the block",
    ),
    _blocked(
        "own-count-kept",
        "(prior[old] + (doc_count[old] - 1)) * level_without",
        "(prior[old] + doc_count[old]) * level_without",
        "a token's own count is not taken out of its document",
    ),
    _blocked(
        "own-total-kept",
        "share[old] / (block_total[old] - 1 + smoothing)",
        "share[old] / (block_total[old] + smoothing)",
        "a token's own count is not taken out of the total of its topic in the block",
    ),
    _blocked(
        "document-of-cell",
        "for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):\n        k = tokens.topic[i]",
        "for i in range(tokens.doc_ptr[d], (tokens.doc_ptr[d] + tokens.doc_ptr[d + 1] + 1) // 2):\n"
        "        k = tokens.topic[i]",
        "a cell sees only some of the tokens that its documents have in other blocks",
    ),
    _blocked(
        "mass-stale",
        "mass_without + (coefficient[new] - kept)",
        "mass_without",
        "the mass is not updated for the topic that a token moved to",
    ),
    _blocked(
        "level-stale",
        "        level[old] = level_without\n",
        "",
        "the level of a topic that a token has left is not raised",
    ),
    _parallel(
        "eta-of-blocks",
        "tally, topics.n_listed.size, topics.eta_prior",
        "tally, topics.share.shape[0], topics.eta_prior",
        "eta is drawn as if there were as many words as blocks",
    ),
    _parallel(
        "tally-of-a-part",
        "        out[: one.size] += one\n",
        "        out[: one.size] = one\n",
        "alpha and eta are drawn given the tally of the last part alone, where that has an entry",
    ),
    _parallel(
        "alpha-of-one-topic",
        "mass = target.n_topics * alpha",
        "mass = alpha",
        "alpha is drawn as if there were a single topic",
    ),
    _parallel(
        "alpha-without-lengths",
        "out += target.n_documents[j] * (",
        "out += (",
        "alpha is drawn given one document of each length",
    ),
    _parallel(
        "alpha-of-tables",
        "tally[count[k]] += 1\n                count",
        "tally[1] += 1\n                count",
        "alpha is drawn as if each topic of a document had a single token",
    ),
    _parallel(
        "alpha-without-jacobian",
        "out = target.prior[0] * x - target.prior[1] * alpha",
        "out = (target.prior[0] - 1.0) * x - target.prior[1] * alpha",
        "alpha is drawn on the scale of its logarithm without the Jacobian",
    ),
)
