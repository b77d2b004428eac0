"""``bnpzoo convert``: a corpus in another format."""

from pathlib import Path
from typing import Annotated

import typer

from .console import say
from .inputs import read_corpus, say_left_out, text_options, to_arrays
from .options import (
    CorpusFile,
    Delimiter,
    Encoding,
    MaxDf,
    MaxFeatures,
    MinDf,
    Sentences,
    StopWords,
    TextColumn,
    TokenPattern,
)

OutFile = Annotated[
    Path,
    typer.Option(
        "--out",
        help="Where to write the corpus: .npz, which holds all of it; .arrays, a new folder that holds all "
        "of it, made bit by bit and mapped into memory when it is used; .ldac or docword.X, which hold "
        "words, counts and, in a file beside them, the vocabulary.",
    ),
]


def convert(
    corpus_file: CorpusFile,
    out_file: OutFile,
    stop_words: StopWords = "english",
    min_df: MinDf = "2",
    max_df: MaxDf = "1.0",
    max_features: MaxFeatures = None,
    token_pattern: TokenPattern = None,
    text_column: TextColumn = "text",
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    sentences: Sentences = "none",
    by_sentence: Annotated[
        bool,
        typer.Option(
            "--by-sentence", help="Make each sentence a document, for models that know of no sentences."
        ),
    ] = False,
) -> None:
    """Write a corpus in another format: as .npz or .arrays, or as bags of words for other programs."""
    from ..zoo.formats import write_corpus

    options = text_options(
        stop_words=stop_words, min_df=min_df, max_df=max_df, max_features=max_features,
        token_pattern=token_pattern, text_column=text_column, encoding=encoding, delimiter=delimiter,
        sentences=sentences,
    )  # fmt: skip
    if out_file.suffix == ".arrays" and not by_sentence:
        corpus = to_arrays(corpus_file, out_file, options)
    else:
        corpus = read_corpus(corpus_file, options=options)
        if by_sentence:
            corpus = corpus.of_sentences()
        write_corpus(corpus, out_file)
    say(
        f"Wrote {out_file}: {corpus.n_documents:,} documents, {corpus.n_tokens:,} tokens, "
        f"{corpus.n_words:,} words."
    )
    say_left_out(corpus, out_file)
