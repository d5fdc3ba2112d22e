"""Feature stage: mean word vector of each node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from graphtrial.core.progress import progress
from graphtrial.wikipedia.dumps.parquet import library
from graphtrial.wikipedia.stages import StageCache, StageResult, identity
from graphtrial.wikipedia.text.glove import mean_vector, read_vectors
from graphtrial.wikipedia.text.texts import ARTICLES_AT_ONCE


def features(stages: StageCache, graph: StageResult, words: StageResult, glove: Path) -> StageResult:
    """Build `features.npy` [nodes, dimensions], float64, in node order."""
    parameters = {"glove": identity(glove)}
    return stages.stage(
        "features", parameters, [graph, words], lambda folder: _make(graph.folder, words.folder, folder, glove)
    )


def words_of(folder: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield id and words of each article of a text stage, some articles at a time."""
    with library("pyarrow.parquet").ParquetFile(folder / "texts.parquet") as opened:
        for batch in opened.iter_batches(ARTICLES_AT_ONCE, columns=["id", "tokens"]):
            yield from zip(batch["id"].to_pylist(), batch["tokens"].to_pylist(), strict=True)


def _make(graph: Path, words: Path, folder: Path, glove: Path) -> dict[str, Any]:
    ids = np.asarray(library("pyarrow.parquet").read_table(graph / "nodes.parquet", columns=["id"])["id"])
    row_of = {int(number): row for row, number in enumerate(ids)}
    vocabulary = {token for number, tokens in words_of(words) if number in row_of for token in tokens}
    rows, vectors, counts = read_vectors(glove, vocabulary)
    shape = (len(ids), vectors.shape[1])
    x = np.lib.format.open_memmap(folder / "features.npy", mode="w+", dtype=np.float64, shape=shape)
    zeros = 0
    with progress("averaging word vectors", len(ids)) as advance:
        for number, tokens in words_of(words):
            if number in row_of:
                x[row_of[number]] = mean_vector(tokens, rows, vectors)
                zeros += not x[row_of[number]].any()
                advance()
    x.flush()
    return {
        "nodes": len(ids),
        "dimensions": shape[1],
        "different words": len(vocabulary),
        "words with a vector": len(rows),
        "nodes of zeros": zeros,
        "lines of vectors": counts["lines"],
        "broken": counts["broken"],
    }
