"""Buckets of graphs for models on node pairs."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.samples import batch_of

from graphtrial.graphs.pairs.buckets import bucket_plan

sizes = st.lists(st.integers(0, 30), max_size=20)


@settings(deadline=None)
@given(sizes=sizes, most=st.integers(1, 2000), padding_cost=st.integers(0, 500))
def test_buckets_partition_graphs_and_nodes(sizes: list[int], most: int, padding_cost: int) -> None:
    batch = batch_of([(n, []) for n in sizes])
    plan = bucket_plan(batch, most, padding_cost)
    actual = torch.cat([torch.zeros(0, dtype=torch.int64), *(bucket.sizes for bucket in plan.buckets)])
    assert actual[plan.graph_place].tolist() == sizes
    owner = torch.repeat_interleave(torch.arange(len(sizes)), actual)
    assert owner[plan.node_place].tolist() == plan.graph_place[batch.batch].tolist()
    assert sorted(plan.node_place.tolist()) == list(range(sum(sizes)))
    assert (owner[plan.node_place].diff() == 0).eq(batch.batch.diff() == 0).all()


@settings(deadline=None)
@given(sizes=sizes, most=st.integers(1, 2000), padding_cost=st.integers(0, 500))
def test_buckets_respect_max_pairs_except_single_graphs(sizes: list[int], most: int, padding_cost: int) -> None:
    for bucket in bucket_plan(batch_of([(n, []) for n in sizes]), most, padding_cost).buckets:
        assert bucket.graphs == 1 or bucket.pairs <= most
        assert bucket.size == max(1, int(bucket.sizes.max()))


def test_zero_padding_budget_groups_equal_sizes() -> None:
    plan = bucket_plan(batch_of([(n, []) for n in (5, 3, 5, 4, 3, 3)]), 10**6, 0)
    assert [bucket.sizes.tolist() for bucket in plan.buckets] == [[3, 3, 3], [4], [5, 5]]
    assert all(bucket.present is None for bucket in plan.buckets)


def test_padding_merges_buckets() -> None:
    plan = bucket_plan(batch_of([(n, []) for n in (5, 3, 5, 4, 3, 3)]), 10**6, 21)
    assert [bucket.sizes.tolist() for bucket in plan.buckets] == [[3, 3, 3, 4], [5, 5]]
    assert plan.buckets[0].present is not None
    assert plan.buckets[0].present.sum(1).tolist() == [3, 3, 3, 4]


def test_large_groups_of_equal_size_are_split_evenly() -> None:
    plan = bucket_plan(batch_of([(10, [])] * 9), 800, 0)
    assert [bucket.graphs for bucket in plan.buckets] == [4, 5]
