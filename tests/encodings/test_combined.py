"""Several encodings at once: columns side by side, cached, randomised and versioned part by part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.samples import graph_set, random_graphs

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.encodings import encode
from graphtrial.encodings.combined import CombinedEncoding, combine
from graphtrial.encodings.laplacian import LaplacianPE
from graphtrial.encodings.node_order import NodeOrder
from graphtrial.encodings.random_walk import RandomWalkPE

GRAPHS = graph_set(random_graphs(20, seed=0))
WALK = {"name": "random-walk", "arguments": {"k": 3}}
VECTORS = {"name": "laplacian", "arguments": {"k": 4}, "version": 2}


def test_columns_are_concatenated_in_order() -> None:
    walk, vectors = RandomWalkPE(3).compute(GRAPHS), LaplacianPE(4).compute(GRAPHS)
    np.testing.assert_array_equal(CombinedEncoding([WALK, VECTORS]).compute(GRAPHS), np.hstack([walk, vectors]))
    np.testing.assert_array_equal(CombinedEncoding([VECTORS, WALK]).compute(GRAPHS), np.hstack([vectors, walk]))


def test_parts_are_cached_separately(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = encode(GRAPHS, RandomWalkPE(3), "encoding").column("encoding").values

    def fail(*arguments: Any) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(RandomWalkPE, "compute", fail)
    combined = encode(GRAPHS, CombinedEncoding([WALK, VECTORS]), "encoding").column("encoding")
    np.testing.assert_array_equal(combined.values[:, :3], alone)
    assert combined.meaning == "random-walk + laplacian encoding"
    monkeypatch.setattr(LaplacianPE, "compute", fail)
    encode(GRAPHS, CombinedEncoding([VECTORS, WALK]), "encoding")
    assert not list(own_home.rglob("combined-*"))


def test_random_signs_apply_to_their_part_only() -> None:
    encoding = CombinedEncoding([WALK, VECTORS])
    values = torch.from_numpy(encoding.compute(GRAPHS))
    view = encoding.training_view(values, torch.Generator().manual_seed(4))
    expected = LaplacianPE(4).training_view(values[:, 3:], torch.Generator().manual_seed(4))
    assert torch.equal(view, torch.cat([values[:, :3], expected], dim=1))
    assert not torch.equal(view, values)


def test_combined_relabelling_is_the_weakest_of_its_parts() -> None:
    order = {"name": "node-order", "arguments": {"k": 9}}
    assert CombinedEncoding([WALK, VECTORS]).relabelling == "sign"
    assert CombinedEncoding([VECTORS, order]).relabelling == NodeOrder.relabelling == "none"
    with pytest.raises(GraphTrialError, match="'random-walk' is given twice"):
        CombinedEncoding([WALK, VECTORS, WALK])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([WALK], "must be a list"),
        ([WALK] * 17, "must be a list"),
        ("rwse:20", "must be a list"),
        ([WALK, {"name": "laplacian", "arguments": {"k": 4}}], "'laplacian' has version 2 here, not 1"),
        ([WALK, {"name": "laplacia", "arguments": {"k": 4}}], "Did you mean 'laplacian'"),
        ([WALK, {**VECTORS, "arguments": {"k": 0}}], "must be an integer from 1"),
        ([WALK, {**VECTORS, "arguments": {}}], "needs a value for k"),
        ([WALK, {**VECTORS, "arguments": {"k": 2, "j": 1}}], "has no setting 'j'"),
        ([WALK, {**VECTORS, "sign": "fixed"}], "is an object with name, arguments and version"),
        ([WALK, {"name": 5}], "is an object with name"),
        ([WALK, {"name": "x" * 300}], "is an object with name"),
        ([WALK, {"name": "laplacian", "version": True}], "is an object with name"),
        ([WALK, {"name": "combined", "arguments": {"parts": [WALK, VECTORS]}}], "has no combined parts"),
        ([WALK, {"name": "os:system"}], "If you trust it add --allow os:system"),
    ],
)
def test_invalid_combination_gives_one_line_error(parts: Any, message: str) -> None:
    with pytest.raises(GraphTrialError, match=message) as raised:
        CombinedEncoding(parts)
    assert len(str(raised.value).splitlines()) == 1


def test_single_part_is_unwrapped_and_several_are_stored_with_versions() -> None:
    walk, vectors = Component("random-walk", {"k": 3}), Component("laplacian", {"k": 4})
    assert combine([walk]) is walk
    assert combine([walk, vectors]) == Component("combined", {"parts": [WALK, VECTORS]})
    with pytest.raises(GraphTrialError, match="at most 16"):
        combine([walk] * 17)
