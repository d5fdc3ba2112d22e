"""Contract of every registered encoding."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from tests.helpers.layers import GRAPH_MODELS, accepted_settings
from tests.helpers.samples import (
    DEGENERATE,
    EDGE_TYPES,
    NODE_TYPES,
    graph_set,
    plain_graphs,
    random_graphs,
    relabelled,
    skip_links,
    whole,
)
from tests.helpers.sampling import rotating

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.process import seed_everything
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import canonical_json
from graphtrial.encodings import ENCODINGS, Encoding, encode
from graphtrial.encodings.base import encoding_text
from graphtrial.graphs import Column, GraphSet, from_networkx
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.studies.study import parse_encoding
from graphtrial.trials.shapes import encoding_shapes, make_encoding

SETS = {
    "degenerate": graph_set(DEGENERATE),
    "random": graph_set(random_graphs(20, seed=0)),
    "skip links": skip_links([2, 3]),
    "no graphs": graph_set([]),
}
every_set = pytest.mark.parametrize("graphs", SETS.values(), ids=SETS)

ENOUGH = {
    "node-order": 41,  # as many numbers as the largest of these graphs has nodes
    "combined": [
        {"name": "random-walk", "arguments": {"k": 3}},
        {"name": "laplacian", "arguments": {"k": 4}, "version": 2},
    ],
}

IN_ANOTHER_PROCESS = """
from tests.contracts.test_encodings import ENCODINGS, hashes
for name in ENCODINGS:
    print(name, *hashes(name))
"""


def make(name: str) -> Encoding:
    """The encoding with its defaults, and 4 (or what it needs) for every argument that has none."""
    kind = ENCODINGS.get(name)
    size = ENOUGH.get(name, 4)
    return kind(**{key: size for key, p in declared_arguments(kind).items() if p.default is p.empty})


@pytest.fixture(params=ENCODINGS.names())
def encoding(request: pytest.FixtureRequest) -> Encoding:
    return make(request.param)


def test_metadata_is_complete(encoding: Encoding) -> None:
    assert ENCODINGS.get(encoding.name) is type(encoding)
    assert encoding.version >= 1
    assert encoding.width >= 1
    assert encoding.relabelling in ("exact", "sign", "none")
    assert encoding.padding in ("zero", "nan")
    assert sum(part.width for part in encoding.parts) == encoding.width
    assert (type(encoding).__doc__ or "").strip()
    assert canonical_json(encoding.cache_key())


@every_set
def test_values_are_finite_and_of_the_declared_width(encoding: Encoding, graphs: GraphSet) -> None:
    values = encoding.compute(graphs)
    assert values.shape == (graphs.num_nodes, encoding.width)
    assert values.dtype == np.float32
    assert (np.isfinite(values) | (np.isnan(values) & (encoding.padding == "nan"))).all()


@every_set
def test_encoding_depends_on_the_structure_only(encoding: Encoding, graphs: GraphSet) -> None:
    bare = GraphSet(graphs.structure, {})
    np.testing.assert_array_equal(encoding.compute(graphs), encoding.compute(bare))


@every_set
def test_encoding_does_not_depend_on_other_graphs(encoding: Encoding, graphs: GraphSet) -> None:
    batched = np.split(encoding.compute(graphs), graphs.node_ptr[1:-1])
    for graph in range(len(graphs)):
        np.testing.assert_array_equal(encoding.compute(graphs.subset([graph])), batched[graph])
    backwards = encoding.compute(graphs.subset(range(len(graphs))[::-1]))
    np.testing.assert_array_equal(backwards, np.concatenate([backwards[:0], *batched[: len(graphs)][::-1]]))


def test_encoding_is_equivariant_as_declared(encoding: Encoding) -> None:
    if encoding.relabelling == "none":
        pytest.skip(f"{encoding.name} is made of the numbers of the nodes")
    graphs = from_networkx(plain_graphs(8, seed=60))
    other, place = relabelled(graphs, seed=1)
    first, second = encoding.compute(graphs), encoding.compute(other)[place]
    if encoding.relabelling == "sign":
        second = second * same_sign(first, second, graphs)
    np.testing.assert_allclose(first, second, atol=1e-5)


def same_sign(first: npt.NDArray[np.float32], second: npt.NDArray[np.float32], graphs: GraphSet) -> npt.NDArray:
    """The sign, for each graph and column, that turns the second encoding into the first."""
    products = np.add.reduceat(first * second, graphs.node_ptr[:-1], axis=0)
    return np.repeat(np.where(products < 0, -1, 1), graphs.node_counts, axis=0)


def hashes(name: str) -> list[str]:
    """The hash of the encoding of each set that has graphs."""
    return [hashlib.sha256(make(name).compute(graphs).tobytes()).hexdigest() for graphs in SETS.values() if len(graphs)]


@pytest.mark.slow
def test_encoding_is_bit_exact_in_another_process() -> None:
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "2", "PYTHONHASHSEED": "7"}
    line = [sys.executable, "-c", IN_ANOTHER_PROCESS]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [text.split() for text in done.stdout.splitlines()] == [[name, *hashes(name)] for name in ENCODINGS]


def test_encoding_ignores_the_global_random_state(encoding: Encoding) -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    first = encoding.compute(SETS["random"])
    torch.manual_seed(2)
    np.random.seed(2)
    np.testing.assert_array_equal(encoding.compute(SETS["random"]), first)


def test_random_augmentation_depends_on_the_generator_alone(encoding: Encoding) -> None:
    values = torch.from_numpy(encoding.compute(SETS["random"]))
    remaining = values.clone()
    views = []
    for seed in (5, 6):  # of the process, not of the generator
        torch.manual_seed(seed)
        views.append(encoding.training_view(values, torch.Generator().manual_seed(3)))
    torch.testing.assert_close(*views, rtol=0, atol=0, equal_nan=True)
    assert views[0].shape == values.shape
    assert views[0].dtype == values.dtype
    torch.testing.assert_close(values, remaining, rtol=0, atol=0, equal_nan=True)


def test_encoding_adds_one_column_to_set_and_batches(encoding: Encoding, own_home: Path) -> None:
    for graphs in SETS.values():
        encoded = encode(graphs, encoding, "encoding")
        np.testing.assert_array_equal(encoded.column("encoding").values, encoding.compute(graphs))
        assert encoded.column("encoding").meaning


@pytest.mark.slow
@pytest.mark.parametrize(("model", "replaces"), rotating(GRAPH_MODELS, [True, False]))
def test_every_model_uses_the_encoding(model: str, replaces: bool, encoding: Encoding) -> None:
    graphs = SETS["random"]
    column = Column(encoding.compute(graphs), "node", encoding.name, missing=encoding.padding == "nan")
    shapes = Shapes(2, "graph", NODE_TYPES, 0, EDGE_TYPES, encoding_dim=encoding.width, encoding_replaces=replaces)
    seed_everything(0)
    built = build_model(model, shapes, accepted_settings(model, width=64, layers=2)).eval()
    batch = whole(graphs.with_column(ENCODING_COLUMN, column))
    with torch.no_grad():
        outputs = built(batch)
        # random values: the directions of DGN are differences of a single column, without their sign
        other = built(batch.with_column(ENCODING_COLUMN, torch.rand_like(batch.columns[ENCODING_COLUMN])))
    assert outputs.shape == (len(graphs), 2)
    assert torch.isfinite(outputs).all()
    assert not torch.equal(outputs, other)


JOINED = (
    *("laplacian-pairs:4+random-walk:5", "random-walk:5+laplacian:4", "laplacian:4+degree:3+cycles:4"),
    *("equivariant-laplacian:4+heat-kernel:3", "rrwp:4+laplacian-pairs:3+equivariant-laplacian:3"),
)
ENCODERS_OF_EIGENPAIRS = [{"eigen_encoder": "transformer"}, {"eigen_encoder": "signnet-mlp"}]
VARIANTS = {
    "gps": [
        *({"local": local, "eigen_encoder": kind} for local in ("gatedgcn", "gine") for kind in ("deepset", "stable")),
        *({"local": "none"}, *ENCODERS_OF_EIGENPAIRS),
    ],
    "san-gps": [{}, {"eigen_encoder": "deepset"}],
    "exphormer": [{}, {"eigen_encoder": "deepset"}],
    "signnet": [{}, {"invariant": False}],
    "dgn": [{}, {"aggregators": "mean"}],
}


@pytest.mark.slow
@pytest.mark.parametrize("text", JOINED)
@pytest.mark.parametrize("model", GRAPH_MODELS)
def test_every_part_of_an_encoding_changes_the_output(model: str, text: str) -> None:
    graphs, encoding = SETS["random"], make_encoding(parse_encoding(text, model))
    assert encoding is not None
    column = Column(encoding.compute(graphs), "node", encoding.name, missing=True)
    batch = whole(graphs.with_column(ENCODING_COLUMN, column))
    values = batch.columns[ENCODING_COLUMN]
    ends = np.cumsum([part.width for part in encoding.parts])
    for variant, replaces in itertools.product(VARIANTS.get(model, [{}]), (False, True)):
        if variant in ENCODERS_OF_EIGENPAIRS and "laplacian-pairs" not in text:
            continue  # refused
        shapes = Shapes(
            *(2, "graph", NODE_TYPES, 0, EDGE_TYPES),
            encoding_dim=encoding.width,
            encoding_replaces=replaces,
            encodings=encoding_shapes(encoding),
        )
        seed_everything(0)
        built = build_model(model, shapes, accepted_settings(model, width=64, layers=2, **variant)).eval()
        outputs = built(batch)
        assert torch.isfinite(outputs).all()
        for part, end in zip(encoding.parts, ends, strict=True):
            noisy = values.clone()
            noisy[:, end - part.width : end] = torch.rand(len(values), part.width)
            other = built(batch.with_column(ENCODING_COLUMN, noisy))
            assert not torch.equal(outputs, other), (variant, replaces, part.name)


@pytest.mark.parametrize("name", [name for name in ENCODINGS if name != "combined"])
def test_instance_and_string_have_the_same_identity(name: str) -> None:
    encoding = make(name)
    texts = []
    for part in encoding.parts:
        arguments = {key: getattr(part, key) for key in declared_arguments(type(part))}
        assert type(part)(**arguments).cache_key() == part.cache_key()
        texts.append(f"{part.name}:{arguments['k']}")
    assert parse_encoding(encoding_text(encoding)) == parse_encoding("+".join(texts))
    assert encoding_text(type(encoding)) == encoding_text(name) == name


def test_combined_instance_and_string_have_the_same_identity() -> None:
    encoding = make("combined")
    assert parse_encoding(encoding_text(encoding)) == parse_encoding("rwse:3+laplacian:4")


def test_instance_without_stored_arguments_gives_one_line_error() -> None:
    encoding = ENCODINGS.get("random-walk")(k=4)
    del encoding.k  # type: ignore[attr-defined]
    with pytest.raises(GraphTrialError, match="does not store its argument 'k'"):
        encoding_text(encoding)
