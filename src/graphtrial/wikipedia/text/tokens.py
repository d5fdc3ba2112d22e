"""Tokenizer: NLTK's `word_tokenize`, without punctuation and stop words."""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.wikipedia.dumps.parquet import library
from graphtrial.wikipedia.text.stopwords import ENGLISH, QUOTES

Tokenize = Callable[[str], list[str]]


def tokenizer(stop_words: frozenset[str] = ENGLISH, punkt: Path | None = None) -> Tokenize:
    """Return a function from text to lower-case tokens.

    Sentences are split by Punkt (Kiss and Strunk 2006), words by the Penn Treebank rules. `punkt` is a folder of NLTK's
    `punkt_tab` with the abbreviations of a language; without it "Dr. Smith" ends a sentence after "Dr." and the token
    is "dr", not "dr.". Tokens that are substrings of `string.punctuation`, stop words, quotation marks and "'s" are
    dropped.
    """
    sentences = _sentences(punkt)
    words = library("nltk.tokenize.destructive").NLTKWordTokenizer()
    dropped = stop_words | QUOTES
    marks = string.punctuation

    def tokenize(text: str) -> list[str]:
        tokens = (token for sentence in sentences.tokenize(text) for token in words.tokenize(sentence))
        return [token.lower() for token in tokens if token not in marks and token.lower() not in dropped]

    return tokenize


def _sentences(punkt: Path | None) -> Any:
    module = library("nltk.tokenize.punkt")
    if punkt is None:
        return module.PunktSentenceTokenizer()
    parameters = module.PunktParameters()
    try:
        parameters.abbrev_types = set(_rows(punkt / "abbrev_types.txt"))
        parameters.sent_starters = set(_rows(punkt / "sent_starters.txt"))
        parameters.collocations = {(first, second) for first, second in _pairs(punkt / "collocations.tab")}
        parameters.ortho_context.update({word: int(value) for word, value in _pairs(punkt / "ortho_context.tab")})
    except (OSError, ValueError) as error:
        raise GraphTrialError(
            f"{punkt} is not a folder of punkt_tab with abbrev_types.txt, collocations.tab, ortho_context.tab and "
            f"sent_starters.txt: {error}"
        ) from error
    return module.PunktSentenceTokenizer(parameters)


def _rows(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line]


def _pairs(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in _rows(path)]
