"""The benchmark's own machinery: statistics, tables, line protocol, sizes of the PyG baselines. Nothing is timed."""

from __future__ import annotations

import importlib
import inspect
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import __main__ as command
from benchmarks import report, roofline
from benchmarks.data import graphs_for, molecules, sbm_graphs, wiki_graph
from benchmarks.entries import BATCH, BY_NAME, ENTRIES, LAYERS, MODELS_OF
from benchmarks.match import OURS, Match, Result, Side, play
from benchmarks.protocol import Contestant, Repetition, SkipError
from benchmarks.stats import is_unproven, paired_ratios, summarize
from benchmarks.tables import megabytes, ratio, seconds, table
from benchmarks.targets import TARGETS, verdicts
from benchmarks.workloads import PRODUCTS, PYG, SECTIONS, TUNED, chosen
from graphtrial.graphs import GraphSet
from graphtrial.nn import MODELS, Shapes, build_model, count_parameters
from graphtrial.tasks import GraphRegression

TRIVIAL = "tests.benchmarks.trivial:"


def test_summary_has_median_minimum_and_maximum():
    actual = summarize([3.0, 1.0, 2.0, 10.0])
    assert (actual.median, actual.low, actual.high, actual.count) == (2.5, 1.0, 10.0, 4)
    assert actual.scaled(2) == summarize([6.0, 2.0, 4.0, 20.0])
    with pytest.raises(ValueError, match="empty"):
        summarize([])


def test_ratios_are_taken_round_by_round():
    # The machine was ten times slower in the second round; each pair says 2 all the same.
    assert paired_ratios([2.0, 20.0], [1.0, 10.0]) == summarize([2.0, 2.0])
    with pytest.raises(ValueError):
        paired_ratios([1.0], [1.0, 2.0])


@pytest.mark.parametrize(("value", "unproven"), [(1.0, True), (1.29, True), (0.8, True), (1.31, False), (0.7, False)])
def test_ratio_near_one_is_marked_unproven(value: float, unproven: bool):
    assert is_unproven(value) is unproven


def test_tables_are_markdown():
    text = table(["model", "time"], [["a|b", "1 s"]])
    assert text.splitlines() == ["| model | time |", "| --- | --: |", "| a\\|b | 1 s |"]
    with pytest.raises(ValueError, match="fit"):
        table(["model"], [["a", "b"]])


def test_numbers_are_formatted():
    assert seconds(summarize([1.5, 2.0, 2.5])) == "2 s (1.5 to 2.5)"
    assert seconds(summarize([0.00123])) == "1.23 ms (1.23 to 1.23)"
    assert ratio(summarize([2.0])) == "2 x (2 to 2)"
    assert ratio(summarize([1.1])) == "1.1 x (1.1 to 1.1, unproven)"
    assert megabytes(3 * 2**30) == "3,072"
    assert seconds(None) == ratio(None) == megabytes(None) == "-"


def test_contestant_runs_on_request():
    contestant = Contestant(f"{TRIVIAL}counts", {"start": 5})
    try:
        assert contestant.warm_up().checksum == 5
        assert [contestant.run().checksum for _ in range(3)] == [6, 7, 8]
        actual = contestant.run()
    finally:
        contestant.close()
    assert actual.seconds == 0.25
    assert actual.facts == {"colour": "blue"}
    assert actual.peak >= contestant.ready["baseline"] > 0
    assert contestant._process.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(("warm_ups", "first"), [(1, 1), (2, 2), (3, 3), (9, 4)])
@pytest.mark.parametrize("one_at_a_time", [True, False])
def test_warm_up_runs_until_times_are_stable(warm_ups: int, first: int, one_at_a_time: bool):
    side = Side("a", f"{TRIVIAL}quickens", {"seconds": [9.0, 6.0, 4.0, 3.9, 3.9, 3.9]})
    result = play(Match("x", (side,), rounds=1, one_at_a_time=one_at_a_time, warm_ups=warm_ups))
    assert result.checksums("a") == [first]


def test_contestant_gets_only_its_own_settings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    contestant = Contestant(
        f"{TRIVIAL}sees", {"names": ["OMP_NUM_THREADS", "MALLOC_TOP_PAD_"]}, {"MALLOC_TOP_PAD_": "1"}
    )
    try:
        assert contestant.warm_up().facts["seen"] == [None, "1"]
    finally:
        contestant.close()


@pytest.mark.parametrize(
    ("contest", "reason"), [("declines", "too tired"), ("breaks", "ZeroDivisionError: by accident")]
)
def test_unavailable_contestant_has_a_reason(contest: str, reason: str):
    contestant = Contestant(TRIVIAL + contest, {})
    try:
        with pytest.raises(SkipError, match=reason):
            contestant.warm_up()
    finally:
        contestant.close()


def test_contestant_that_exits_early_is_detected():
    contestant = Contestant(f"{TRIVIAL}breaks_later", {})
    try:
        contestant.warm_up()
        with pytest.raises(SkipError, match="code 3"):
            contestant.run()
    finally:
        contestant.close()


@pytest.mark.slow
@pytest.mark.parametrize("one_at_a_time", [False, True])
def test_match_pairs_rounds_and_skips_unavailable_contestants(one_at_a_time: bool):
    sides = (
        Side(OURS, f"{TRIVIAL}counts", {"start": 0}),
        Side(PYG, f"{TRIVIAL}counts", {"start": 0, "seconds": 0.75}),
        Side("absent", f"{TRIVIAL}declines"),
    )
    message: list[str] = []
    result = play(Match("x", sides, rounds=3, scale=4, one_at_a_time=one_at_a_time), message.append)
    assert result.checksums(OURS) == ([1, 1, 1] if one_at_a_time else [1, 2, 3])
    assert result.ratio(PYG) == summarize([3.0, 3.0, 3.0])
    assert result.seconds(OURS) == summarize([1.0, 1.0, 1.0])
    assert result.skipped == {"absent": "too tired"}
    assert result.growth(OURS) is not None
    assert "too tired" in message[0]


def test_targets_are_met_or_missed():
    actual = {(v.match, v.goal.split(" as ")[0]): v.verdict for v in verdicts(_results())}
    assert actual["zinc/gcn", "at least 2 times"] == "reached, not in every round"
    assert actual["pattern/gcn", "at least 20 times"] == "**missed**"
    assert actual["pattern/gat", "peak memory at most 1/4 of PyG's"] == "not run"
    assert actual["batching", "at least 10 times"] == "reached"


def test_every_target_names_a_match():
    names = {match.name for match in chosen([], quick=False)}
    assert all(verdicts({name: Result(Match(name, (), 0)) for name in names}))
    for target in TARGETS:
        concerned = [name for name in names if any(Path(name).match(pattern) for pattern in target.matches)]
        assert concerned, target


def test_report_has_every_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bounds = tmp_path / "BOUNDS.md"
    bounds.write_text("Memory | *as written* \n")
    monkeypatch.setattr(report, "BOUNDS", bounds)
    text = report.write(_results(), {"date": "today"}, quick=False)
    for part in ("- date: today", "## Targets", "## Peak memory", "## Roofline", "not in the registry", "**missed**"):
        assert part in text
    assert text.endswith("## What bounds us now\n\nMemory | *as written*\n")
    monkeypatch.setattr(report, "BOUNDS", tmp_path / "absent")
    assert "Not written yet" in report.write({}, {}, quick=True)


def test_stored_runs_are_reported_together(tmp_path: Path):
    out, results = tmp_path / "R.md", _results()
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    facts = {"machine": "m", "date": "yesterday"}, {"machine": "m", "date": "today"}
    parts = list(results.values())[::2], list(results.values())[1::2]
    for file, fact, part in zip((one, two), facts, parts, strict=True):
        file.write_text(json.dumps({"facts": fact, "quick": False, "results": [asdict(r) for r in part]}))
    command.main(["--from-json", str(one), str(two), "--out", str(out)])
    in_order = {result.match.name: result for part in parts for result in part}
    assert out.read_text() == report.write(in_order, {"machine": "m", "date": "yesterday; today"}, quick=False)


@pytest.mark.parametrize("quick", [True, False])
def test_every_contestant_takes_its_arguments(quick: bool):
    for match in chosen([], quick=quick):
        for side in match.sides:
            module, _, function = side.contest.partition(":")
            signature = inspect.signature(getattr(importlib.import_module(module), function))
            signature.bind(None, None, **side.arguments)


def test_workloads_are_selected_by_section_or_name():
    assert {match.name.split("/")[0] for match in chosen([], quick=True)} == set(SECTIONS)
    assert [match.name for match in chosen(["wiki", "zinc/gin"], quick=False)] == ["zinc/gin", "wiki/gcn", "wiki/gat"]
    with pytest.raises(SystemExit, match="zink"):
        chosen(["zink"], quick=True)


@pytest.mark.slow
def test_synthetic_graphs_have_the_sizes_of_the_real_ones():
    pattern = sbm_graphs(200)
    assert pattern.num_nodes / 200 == pytest.approx(118, abs=5)
    assert pattern.num_edges / 200 == pytest.approx(5900, rel=0.06)
    zinc = molecules(500)
    assert zinc.num_nodes / 500 == pytest.approx(23.2, abs=0.6)
    assert zinc.num_edges / 500 == pytest.approx(49.8, abs=1.5)
    wiki = wiki_graph(shrink=10)
    assert (wiki.node_counts[0], wiki.edge_counts[0]) == (1170, 43172)
    assert wiki.in_degree.max() > 5 * wiki.in_degree.mean()
    assert all(_is_simple(graphs) for graphs in (pattern, zinc, wiki))
    data, ids = graphs_for("molecules", 30)
    assert len(ids) == 30 < len(data)


@pytest.mark.parametrize("workload", ["zinc", "pattern", "wiki"])
@pytest.mark.parametrize("model", [entry.name for entry in ENTRIES])
def test_pyg_baseline_has_same_parameter_count(workload: str, model: str):
    twins = pytest.importorskip("benchmarks.twins")
    if model not in MODELS:
        pytest.skip("not in the registry")
    entry = BY_NAME[model]
    width, dims = entry.width(workload), {"node_dim": 300} if workload == "wiki" else {"node_types": 28}
    shapes = Shapes(outputs=1, level="graph", **dims)
    ours = build_model(model, shapes, {**entry.settings, "width": width, "layers": LAYERS})
    twin = twins.Twin(model, width, **dims)
    assert count_parameters(ours) == count_parameters(twin)


@pytest.mark.parametrize(
    ("model", "published"),
    [
        *[("mlp", 108_975), ("gcn", 103_077), ("gin", 103_079), ("graphsage", 105_031)],
        *[("gat", 102_385), ("monet", 106_002), ("gatedgcn", 105_735)],
    ],
)
def test_pyg_baseline_has_published_parameter_count(model: str, published: int):
    twins = pytest.importorskip("benchmarks.twins")
    assert count_parameters(twins.Twin(model, BY_NAME[model].zinc, node_types=28)) == published


@pytest.mark.parametrize(("layers", "width"), [(1, 32), (5, 64)])
def test_the_twin_of_the_grid_is_exactly_as_large(layers: int, width: int):
    pytest.importorskip("torch_geometric")
    from benchmarks.trials import _GIN

    ours = build_model("gin-eps", Shapes(outputs=6, level="graph", node_dim=3), {"width": width, "layers": layers})
    assert count_parameters(ours) == count_parameters(_GIN(3, width, layers, 6))


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS_OF["zinc"])
def test_pyg_baseline_trains(model: str):
    pytest.importorskip("torch_geometric")
    from torch_geometric.loader import DataLoader

    from benchmarks.training import as_data, build_twin, pyg_epoch, pyg_test, twin_class

    torch.manual_seed(0)
    data, ids = graphs_for("molecules", 24)
    twin = build_twin(twin_class(), model, "zinc", data)
    batches = DataLoader(as_data(data, ids), batch_size=8)
    optimizer = torch.optim.Adam(twin.parameters(), lr=3e-3)
    losses = [pyg_epoch(twin, optimizer, batches) for _ in range(6)]
    assert losses[-1] < losses[0]
    assert np.isfinite(pyg_test(twin, batches))


@pytest.mark.slow
def test_roofline_counts_every_matrix_product():
    pytest.importorskip("torch_geometric")
    from torch_geometric.data import Batch

    from benchmarks.training import as_data, build_twin, twin_class

    data, ids = graphs_for("molecules", 8)
    batch = Batch.from_data_list(as_data(data, ids))
    actual = roofline.recorded(build_twin(twin_class(), "gcn", "zinc", data), batch)
    nodes, width = batch.num_nodes, BY_NAME["gcn"].zinc
    layers = sum(count for (m, k, n, *_), count in actual.items() if sorted((m, k, n)) == sorted((nodes, width, width)))
    assert layers == 3 * LAYERS  # forward, gradient of the input, gradient of the weight
    assert roofline.moved_bytes("gcn", nodes, 2 * nodes, width) > roofline.moved_bytes("mlp", nodes, 2 * nodes, width)
    assert roofline.product_seconds((64, 30, 30, False, True)) > 0
    assert roofline.bandwidth(1 << 12) > 0


def test_synthetic_graphs_have_targets_of_their_task():
    data, _ = graphs_for("molecules", 3)
    assert Shapes.of(data, GraphRegression()).node_types == 28


def _results() -> dict[str, Result]:
    def repetitions(*times: float, mb: int = 100) -> list[Repetition]:
        facts = {"parameters": 10, "gflop": 1.0, "gigabytes": 1.0, "bandwidth": 20.0}
        return [Repetition(t, 1 / (i + 1), mb * 2**20, facts) for i, t in enumerate(times)]

    def built(name: str, ours: list[Repetition], **others: list[Repetition]) -> Result:
        names = {"pyg": PYG, "tuned": TUNED, "products": PRODUCTS, "listed": "PyG Batch.from_data_list"}
        actual = {OURS: ours, **{names[key]: value for key, value in others.items()}}
        sides = tuple(Side(side, "nothing", {"graphs": BATCH}) for side in actual)
        return Result(Match(name, sides, 2, scale=2.0), actual, {side: {"baseline": 1} for side in actual})

    absent = Result(Match("pattern/gat", (Side(OURS, "nothing"),), 1), skipped={OURS: "not in the registry"})
    results = [
        built("zinc/gcn", repetitions(1, 1), pyg=repetitions(1.6, 2.6), products=repetitions(0.7, 0.7)),
        built("pattern/gcn", repetitions(1, 1), pyg=repetitions(9, 9, mb=900), tuned=repetitions(5, 5)),
        absent,
        built("batching", repetitions(1, 1), listed=repetitions(12, 12)),
        *(built(f"scaling/graphs x{times}", repetitions(times, times, mb=times)) for times in (1, 10, 100)),
    ]
    return {result.match.name: result for result in results}


def _is_simple(graphs: GraphSet) -> bool:
    graph = np.repeat(np.arange(len(graphs)), graphs.edge_counts)
    edges = np.stack([graph, *graphs.edge_index.astype(np.int64)])
    permuted = edges[[0, 2, 1]]
    unique = np.unique(edges, axis=1)
    no_loops = bool((edges[1] != edges[2]).all())
    return no_loops and unique.shape == edges.shape and bool((unique == np.unique(permuted, axis=1)).all())
