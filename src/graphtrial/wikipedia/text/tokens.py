"""Words of a text, as NLTK's `word_tokenize` divides it, without punctuation marks and stop words."""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.wikipedia.dumps.sheets import library
from graphtrial.wikipedia.text.stopwords import ENGLISH, QUOTES

Tokenize = Callable[[str], list[str]]


def tokenizer(stop_words: frozenset[str] = ENGLISH, punkt: Path | None = None) -> Tokenize:
    """Return a function from text to words in small letters.

    Sentences are divided by Punkt (Kiss and Strunk 2006), words by the rules of the Penn Treebank. `punkt` is a folder
    of NLTK's `punkt_tab` with the abbreviations of a language; without it Punkt knows none, so that "Dr. Smith" ends a
    sentence after "Dr." and the word is "dr", not "dr.". A token that is part of the string of all punctuation marks
    is dropped, and so is one that is a stop word, a quotation mark or "'s".
    """
    sentences = _sentences(punkt)
    words = library("nltk.tokenize.destructive").NLTKWordTokenizer()
    dropped = stop_words | QUOTES
    marks = string.punctuation

    def tokenize(text: str) -> list[str]:
        found = (token for sentence in sentences.tokenize(text) for token in words.tokenize(sentence))
        return [token.lower() for token in found if token not in marks and token.lower() not in dropped]

    return tokenize


def _sentences(punkt: Path | None) -> Any:
    module = library("nltk.tokenize.punkt")
    if punkt is None:
        return module.PunktSentenceTokenizer()
    known = module.PunktParameters()
    try:
        known.abbrev_types = set(_rows(punkt / "abbrev_types.txt"))
        known.sent_starters = set(_rows(punkt / "sent_starters.txt"))
        known.collocations = {(first, second) for first, second in _pairs(punkt / "collocations.tab")}
        known.ortho_context.update({word: int(value) for word, value in _pairs(punkt / "ortho_context.tab")})
    except (OSError, ValueError) as error:
        raise GraphTrialError(
            f"{punkt} is no folder of punkt_tab with abbrev_types.txt, collocations.tab, ortho_context.tab and "
            f"sent_starters.txt: {error}"
        ) from error
    return module.PunktSentenceTokenizer(known)


def _rows(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line]


def _pairs(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in _rows(path)]
