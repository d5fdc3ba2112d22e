"""Export stage: `data.json` and `metadata.json` in the format of Wiki-CS, and NumPy arrays of a graph set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.progress import progress
from graphtrial.wikipedia.dumps.parquet import library
from graphtrial.wikipedia.features import words_of
from graphtrial.wikipedia.splits import SEED, SPLITS, Masks, draw_masks
from graphtrial.wikipedia.stages import StageCache, StageResult


def export(
    stages: StageCache, graph: StageResult, words: StageResult, vectors: StageResult, classes: list[str]
) -> StageResult:
    """Build `data.json`, `metadata.json`, and `labels`, `ends` and masks as `.npy`."""
    return stages.stage(
        "export",
        {"classes": classes, "splits": SPLITS, "seed": SEED},
        [graph, words, vectors],
        lambda folder: _make(graph.folder, words.folder, vectors.folder, folder, classes),
    )


def _make(graph: Path, words: Path, vectors: Path, folder: Path, classes: list[str]) -> dict[str, Any]:
    parquet = library("pyarrow.parquet")
    nodes = parquet.read_table(graph / "nodes.parquet")
    links = parquet.read_table(graph / "links.parquet")
    ends = np.stack([np.asarray(links[name], np.int64) for name in ("source", "target")])
    y = np.asarray(nodes["class"], np.int64)
    ids, titles = nodes["id"].to_pylist(), nodes["title"].to_pylist()
    x = np.load(vectors / "features.npy", mmap_mode="r", allow_pickle=False)
    masks = draw_masks(y, len(classes))
    if not masks["train"].any(axis=1).all() or not masks["test"].any():
        raise GraphTrialError(
            f"{len(y)} articles in {len(classes)} classes are too few: 5 % of no class are a whole article to train on"
        )
    outlinks = np.split(ends[1], np.cumsum(np.bincount(ends[0], minlength=len(y)))[:-1])
    with (folder / "data.json").open("w", encoding="utf-8") as file:
        _write_data(file, x, y, outlinks, masks)
    with (folder / "metadata.json").open("w", encoding="utf-8") as file:
        _write_metadata(file, ids, titles, y, outlinks, classes, words)
    arrays: Mapping[str, npt.NDArray[Any]] = {"labels": y, "ends": ends, **masks}
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)
    sizes = np.bincount(y, minlength=len(classes))
    return {
        "nodes": len(y),
        "links": ends.shape[1],
        "dimensions": x.shape[1],
        "classes": {name: int(size) for name, size in zip(classes, sizes, strict=True)},
        "train": int(masks["train"][0].sum()),
        "stopping": int(masks["stopping"][0].sum()),
        "val": int(masks["val"][0].sum()),
        "test": int(masks["test"].sum()),
    }


def _write_data(
    file: TextIO,
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.int64],
    outlinks: list[npt.NDArray[np.int64]],
    masks: Masks,
) -> None:
    file.write('{"features": ')
    _write_list(file, (row.tolist() for row in x))
    file.write(f', "labels": {json.dumps(y.tolist())}, "links": ')
    _write_list(file, (targets.tolist() for targets in outlinks))
    for name in ("train", "stopping", "val"):
        file.write(f', "{name}_masks": ')
        _write_list(file, (mask.tolist() for mask in masks[name]))
    file.write(f', "test_mask": {json.dumps(masks["test"].tolist())}}}')


def _write_metadata(
    file: TextIO,
    ids: list[int],
    titles: list[str],
    y: npt.NDArray[np.int64],
    outlinks: list[npt.NDArray[np.int64]],
    classes: list[str],
    words: Path,
) -> None:
    """Write the nodes in index order, streaming the tokens of one article at a time."""
    file.write(f'{{"labels": {json.dumps(dict(enumerate(classes)), ensure_ascii=False)}, "nodes": ')
    tokens_in_order = _in_order(words, ids)
    with progress("writing metadata.json", len(ids)) as advance:

        def nodes() -> Iterable[dict[str, Any]]:
            for row, tokens in enumerate(tokens_in_order):
                yield {
                    "id": ids[row],
                    "title": titles[row],
                    "label": classes[y[row]],
                    "outlinks": [ids[target] for target in outlinks[row]],
                    "tokens": tokens,
                }
                advance()

        _write_list(file, nodes())
    file.write("}")


def _in_order(words: Path, ids: list[int]) -> Iterable[list[str]]:
    """Yield the tokens of articles in the order of `ids`, which may differ from that of the file."""
    in_file = [number for number, _ in words_of(words)]
    wanted = set(ids)
    if [number for number in in_file if number in wanted] == ids:
        return (tokens for number, tokens in words_of(words) if number in wanted)
    tokens_of = {number: tokens for number, tokens in words_of(words) if number in wanted}
    return (tokens_of[number] for number in ids)


def _write_list(file: TextIO, items: Iterable[Any]) -> None:
    """Write a JSON list item by item."""
    separator = "["
    for item in items:
        file.write(separator)
        json.dump(item, file, ensure_ascii=False)
        separator = ", "
    file.write("]" if separator == ", " else "[]")
