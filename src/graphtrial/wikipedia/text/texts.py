"""Text stage: tokens and outgoing links of every labelled article."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphtrial.core.files import sha256_of
from graphtrial.core.progress import progress
from graphtrial.wikipedia.dumps.parquet import RowWriter, library
from graphtrial.wikipedia.dumps.xmldump import Page, PageCounts, read_pages, read_site
from graphtrial.wikipedia.stages import StageCache, StageResult, identity
from graphtrial.wikipedia.text.stopwords import ENGLISH, read_stop_words
from graphtrial.wikipedia.text.tokens import Tokenize, tokenizer
from graphtrial.wikipedia.text.wikitext import DISAMBIGUATION, Reader

ARTICLES_AT_ONCE = 256
COLUMNS = {"id": "int64", "tokens": "list", "links": "list"}


@dataclass(frozen=True)
class TextRules:
    """Tokenization options: stop word file (default English), Punkt folder, names of disambiguation templates."""

    stop_words: Path | None = None
    punkt: Path | None = None
    disambiguation: Sequence[str] = DISAMBIGUATION

    def identity(self) -> dict[str, Any]:
        """Return the identity of the options for cache keys: hashes of their files, not names."""
        punkt = sorted(self.punkt.iterdir()) if self.punkt and self.punkt.is_dir() else []
        return {
            "stop_words": sha256_of(self.stop_words) if self.stop_words and self.stop_words.is_file() else None,
            "punkt": [[file.name, sha256_of(file)] for file in punkt if file.is_file()],
            "disambiguation": list(self.disambiguation),
        }

    def tokenizer(self) -> Tokenize:
        """Return the tokenizer."""
        return tokenizer(read_stop_words(self.stop_words) if self.stop_words else ENGLISH, self.punkt)


def texts(
    stages: StageCache, labelled: StageResult, dumps: Sequence[Path], rules: TextRules, allow_truncated: bool
) -> StageResult:
    """Build `texts.parquet`: id, tokens and linked titles of each labelled article with text."""
    parameters = {"dumps": [identity(path) for path in dumps], "rules": rules.identity()}
    return stages.stage(
        "texts", parameters, [labelled], lambda folder: _make(labelled.folder, dumps, folder, rules, allow_truncated)
    )


def _make(
    labelled: Path, dumps: Sequence[Path], folder: Path, rules: TextRules, allow_truncated: bool
) -> dict[str, Any]:
    tokenize = rules.tokenizer()
    table = library("pyarrow.parquet").read_table(labelled / "labels.parquet")
    ids, files, streams = (np.asarray(table[name]) for name in ("id", "file", "stream"))
    report = {"articles": 0, "disambiguations": 0, "without words": 0, "tokens": 0, "broken": 0}
    with RowWriter(folder / "texts.parquet", COLUMNS, ARTICLES_AT_ONCE) as rows:
        for number, path in enumerate(dumps):
            here = files == number
            wanted = set(ids[here].tolist())
            counts = PageCounts()
            reader = Reader(read_site(path), rules.disambiguation)
            places = sorted(set(streams[here].tolist())) if path.suffix == ".bz2" else None
            for page in _pages(path, counts, places, wanted, reader, allow_truncated):
                if reader.is_disambiguation(page.text):
                    report["disambiguations"] += 1
                    continue
                tokens = tokenize(reader.plain(page.text))
                report["articles"] += 1
                report["without words"] += not tokens
                report["tokens"] += len(tokens)
                rows.add(page.id, tokens, reader.links(page.text))
            report["broken"] += counts.broken
    return report


def _pages(
    path: Path,
    counts: PageCounts,
    places: list[int] | None,
    wanted: set[int],
    reader: Reader,
    allow_truncated: bool,
) -> Iterator[Page]:
    """Yield the wanted pages of a dump, reading only the bz2 streams that contain them."""
    if not wanted:
        return
    with progress(f"reading texts of {path.name}", len(wanted)) as advance:
        pages = read_pages(path, counts, _silent, site=reader.site, streams=places, allow_truncated=allow_truncated)
        for page in pages:
            if page.id in wanted:
                yield page
                advance()


def _silent(amount: float = 1.0) -> None:
    """Ignore bytes: progress counts articles here."""
