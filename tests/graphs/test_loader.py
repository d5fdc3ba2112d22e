"""`Loader`: each graph once per epoch, in an order that depends on the generator alone, with or without prefetching."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.strategies import build, random_graphs
from torch_geometric.loader import DataLoader

from graphtrial.core.errors import GraphTrialError, InvalidGraphError
from graphtrial.graphs import GraphBatch, GraphSet, Loader, to_pyg
from graphtrial.graphs import loader as loader_module

COUNT = 23


def graph_set() -> GraphSet:
    return build(random_graphs(COUNT, seed=5))


@pytest.fixture(autouse=True)
def threads_even_for_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefetch in a thread, although these batches are below the minimum size."""
    monkeypatch.setattr(loader_module, "MIN_PREFETCH_SIZE", 0)


def epochs(seed: int, prefetch: int, count: int = 2) -> list[list[list[int]]]:
    """The targets of every batch of some epochs: ten times the graph indices."""
    loader_module.MIN_PREFETCH_SIZE = 0  # again, for the process that is spawned
    loader = Loader(graph_set(), range(COUNT), 4, generator=torch.Generator().manual_seed(seed), prefetch=prefetch)
    return [[targets(batch) for batch in loader] for _ in range(count)]


def targets(batch: GraphBatch) -> list[int]:
    assert batch.y is not None
    return batch.y.tolist()


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("graphtrial-loader")]


@given(st.integers(0, COUNT), st.integers(1, 30), st.integers(0, 4), st.booleans())
def test_every_graph_is_loaded_once_per_epoch(count: int, batch_size: int, prefetch: int, shuffled: bool) -> None:
    generator = torch.Generator().manual_seed(0) if shuffled else None
    loader = Loader(graph_set(), range(count), batch_size, generator=generator, prefetch=prefetch)
    batches = list(loader)
    assert len(batches) == len(loader) == -(-count // batch_size)
    assert all(batch.num_graphs == batch_size for batch in batches[:-1])
    seen = [y for batch in batches for y in targets(batch)]
    assert sorted(seen) == [10 * i for i in range(count)]
    assert shuffled or seen == sorted(seen)
    assert helpers() == []


def test_unshuffled_batches_match_pyg() -> None:
    graphs = graph_set()
    theirs = DataLoader(to_pyg(graphs), batch_size=5)
    for ours, other in zip(Loader(graphs, range(COUNT), 5), theirs, strict=True):
        for name in ("x", "edge_index", "edge_attr", "y", "batch", "ptr"):
            assert torch.equal(getattr(ours, name), other[name])


def test_epochs_have_different_orders() -> None:
    first, second = epochs(seed=7, prefetch=2)
    assert first != second
    assert epochs(seed=8, prefetch=2)[0] != first


@pytest.mark.parametrize("prefetch", [0, 1, 3, 100])
def test_order_does_not_depend_on_prefetching(prefetch: int) -> None:
    assert epochs(seed=7, prefetch=prefetch) == epochs(seed=7, prefetch=2)


@pytest.mark.slow
def test_order_is_the_same_in_another_process() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        elsewhere = pool.apply(epochs, (7, 1))
    assert elsewhere == epochs(seed=7, prefetch=3)


def test_interrupted_epoch_does_not_change_the_next() -> None:
    def loader() -> Loader:
        return Loader(graph_set(), range(COUNT), 4, generator=torch.Generator().manual_seed(3))

    whole, stopped = loader(), loader()
    list(whole)
    next(iter(stopped))
    assert [targets(batch) for batch in whole] == [targets(batch) for batch in stopped]


def test_interrupted_iteration_leaves_no_thread() -> None:
    before = threading.active_count()
    loader = Loader(graph_set(), range(COUNT), 2, prefetch=3)
    for _ in loader:
        break
    iterator: Iterator[GraphBatch] = iter(loader)
    next(iterator)
    assert len(helpers()) == 1
    del iterator
    with pytest.raises(RuntimeError, match="in the loop"):
        fail_in_the_loop(loader)
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert helpers() == []
    assert threading.active_count() == before


def fail_in_the_loop(loader: Loader) -> None:
    for _ in loader:
        raise RuntimeError("in the loop")


def test_unused_iterator_starts_no_thread() -> None:
    iterator = iter(Loader(graph_set(), range(COUNT), 2))
    assert helpers() == []
    del iterator


def test_small_batches_are_not_prefetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    iterator = iter(Loader(graph_set(), range(COUNT), 2))
    next(iterator)
    assert helpers() == []


def test_selected_graphs_are_loaded_in_order() -> None:
    ids = np.array([5, 1, 5, 22])
    batches = list(Loader(graph_set(), ids, 3))
    assert [targets(batch) for batch in batches] == [[50, 10, 50], [220]]


@pytest.mark.parametrize("batch_size", [0, -1])
def test_empty_selection_raises(batch_size: int) -> None:
    with pytest.raises(GraphTrialError, match=f"a batch needs at least one graph; batch_size is {batch_size}"):
        Loader(graph_set(), range(3), batch_size)


def test_out_of_range_graphs_raise_at_construction() -> None:
    with pytest.raises(InvalidGraphError, match=f"graph index {COUNT} is out of range"):
        Loader(graph_set(), [0, COUNT], 2)
