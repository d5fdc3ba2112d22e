"""The model that a study of one row trains on one dataset, without its trials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphtrial.datasets import DATASETS
from graphtrial.encodings import Encoding
from graphtrial.nn import Shapes
from graphtrial.studies.study import Study, choose_settings, parse_encoding
from graphtrial.trials.kinds import kind_of
from graphtrial.trials.shapes import make_encoding


def shapes_and_settings(
    study: Study, shapes_with: Callable[[Encoding | None], Shapes]
) -> tuple[Shapes, dict[str, Any]]:
    """Return the arguments of `build_model` for a study of one dataset and one row with one encoding.

    `shapes_with` returns the shapes of the dataset with an encoding. The protocol, if the study names one, decides
    between released sizes, and on one logit for two classes.
    """
    (dataset,), (row,) = study.datasets, study.rows
    component = parse_encoding(row.encodings[0], row.model)
    shapes, name = shapes_with(make_encoding(component)), None
    if study.protocol:
        protocol = study.protocol_for(DATASETS.get(dataset), row)
        name, shapes = protocol.name, kind_of(protocol.rules_for(row.model)).shapes(shapes)
    return shapes, choose_settings(dataset, lambda: shapes, row, component, name)
