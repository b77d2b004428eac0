"""``bnpzoo associate``: which words of shared topics become which words of a collection."""

from pathlib import Path
from typing import Annotated

import typer

from .console import say
from .options import CorpusFile, Groups

KEEP_ASSOCIATIONS = (".npz", ".arrays")
"""Suffixes of the formats that have a place for associations."""

OutFile = Annotated[
    Path, typer.Option("--out", help="Where to write the corpus with associations (.npz, .arrays).")
]
Reference = Annotated[
    Path | None,
    typer.Option(
        metavar="CORPUS",
        help="Text; words that stand together in it most are associated. It may be the corpus.",
    ),
]


def associate(
    corpus_file: CorpusFile,
    out_file: OutFile,
    groups: Groups = None,
    reference: Reference = None,
    window: Annotated[
        int | None,
        typer.Option(min=2, help="Tokens of the reference that stand together; documents if left out."),
    ] = None,
    embeddings: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Vectors of words as word2vec and GloVe write them in text."),
    ] = None,
    strengths: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Sparse matrix, as scipy.sparse.save_npz writes it, of how much words belong together.",
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Words associated with each, itself among them.")] = 10,
) -> None:
    """Add associations of words to a corpus, for models such as tpyp.

    They come from a reference corpus, from embeddings, or from a matrix of your own. Texts are split as by
    `bnpzoo convert`, and all their words are taken; `bnpzoo convert` chooses some first.
    """
    from dataclasses import replace

    from ..zoo.corpus.associate import associations_of, cooccurrence, similarity
    from ..zoo.formats import TextOptions, read_corpus, write_corpus
    from ..zoo.formats.archive import read_sparse
    from ..zoo.formats.embeddings import read_embeddings

    if out_file.suffix not in KEEP_ASSOCIATIONS:
        raise ValueError(
            f"--out {out_file}: expected a name that ends in {' or '.join(KEEP_ASSOCIATIONS)}; other formats "
            "have no associations"
        )
    if sum(source is not None for source in (reference, embeddings, strengths)) != 1:
        raise ValueError("expected one of --reference, --embeddings and --strengths")
    if window is not None and reference is None:
        raise ValueError("--window: expected --reference, the text that it moves over")
    all_words = TextOptions(stop_words=None).of_new_documents()
    corpus = read_corpus(corpus_file, options=all_words)
    if groups is not None:
        corpus = corpus.grouped(groups)
    if reference is not None:
        found = cooccurrence(read_corpus(reference, options=all_words), corpus, window)
    elif embeddings is not None:
        found = similarity(read_embeddings(embeddings, corpus.vocabulary), most)
    else:
        assert strengths is not None
        found = read_sparse(strengths)
    associations = associations_of(found, corpus.n_groups, most)
    write_corpus(replace(corpus, associations=associations), out_file)
    per_word = associations.column.size / (corpus.n_groups * corpus.n_words)
    say(f"Wrote {out_file}: {corpus.n_words:,} words, {per_word:.1f} associated with each on average.")
