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
        "delta-of-shared-totals",
        "topics.delta, topics.count[1:], topics.total[1:]",
        "topics.delta, topics.count[1:], topics.total[:1]",
        "the parameter of own words is drawn with the totals of shared ones",
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
)
