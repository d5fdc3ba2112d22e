"""Shapes of a model for a dataset and an encoding, from the data or from the published sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from graphtrial.core.spec import Component
from graphtrial.datasets import Dataset, load
from graphtrial.encodings import ENCODINGS, Encoding
from graphtrial.nn import Shapes
from graphtrial.nn.shapes import EncodingShape, degree_histogram
from graphtrial.published.shapes import lookup_shapes


def make_encoding(component: Component | None) -> Encoding | None:
    """Build an encoding."""
    return ENCODINGS.get(component.name)(**component.arguments) if component else None


def shapes_for(dataset: Dataset, encoding: Encoding | None, train_ids: npt.NDArray[np.int64] | None = None) -> Shapes:
    """Return the shapes of a model for this dataset and encoding.

    The input of edges without features follows the papers, since the data do not show it. Degrees are those of the
    graphs `train_ids`. Mean sizes, and degrees without these, are those of the graphs that some split trains on: all
    of them in a cross-validation.
    """
    replaces = dataset.spec.encoding_mode == "replace"
    width = encoding.width if encoding else 0
    shapes = Shapes.of(dataset.graphs, dataset.task, encoding_dim=width, encoding_replaces=replaces)
    shapes = replace(shapes, encodings=encoding_shapes(encoding))
    if dataset.spec.split_level == "graph" and dataset.splits:
        trained = np.unique(np.concatenate([np.asarray(split.train) for split in dataset.splits]))
        if len(trained):
            counts = dataset.graphs.node_counts
            of_degrees = trained if train_ids is None else np.asarray(train_ids)
            in_training = np.repeat(np.isin(np.arange(len(counts)), of_degrees), counts)
            shapes = replace(
                shapes,
                mean_nodes=float(counts[trained].mean()),
                degree_histogram=degree_histogram(dataset.graphs.in_degree[in_training]),
            )
    published = lookup_shapes(dataset.name)
    return replace(shapes, edge_ones=published.edge_ones) if published else shapes


def planned_shapes(name: str, encoding: Encoding | None) -> Shapes:
    """Return the shapes without data where the sizes of a dataset are published; any other dataset is loaded."""
    published = lookup_shapes(name, encoding.width if encoding else 0)
    return replace(published, encodings=encoding_shapes(encoding)) if published else shapes_for(load(name), encoding)


def encoding_shapes(encoding: Encoding | None) -> tuple[EncodingShape, ...]:
    """Return name and width of each part of an encoding, from left to right."""
    return tuple(EncodingShape(part.name, part.width) for part in encoding.parts) if encoding else ()
