"""Every model and task on a fake device, and on the portable path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from tests.contracts.test_task_contract import MAKERS, make
from tests.helpers.layers import accepted_settings, levels_of
from tests.helpers.mps import CPU_ATTENTION, MPS_DTYPES, MPS_OPERATORS
from tests.helpers.nondeterministic import ATEN, documented, nondeterministic
from tests.helpers.pretend import MixedDevicesError, Pretended, pretended
from tests.helpers.samples import EDGE_TYPES, ENCODING, NODE_TYPES, batch_of, random_graphs
from tests.helpers.sampling import marked_long
from torch import Tensor, nn

import graphtrial
from graphtrial.core.process import compute_settings, seed_everything
from graphtrial.graphs import GraphBatch
from graphtrial.nn import MODELS, Shapes, build_model
from graphtrial.ops.portable import portable_path
from graphtrial.tasks import TASKS
from graphtrial.training.trainer import compile_model

GRAPHS = random_graphs(6, seed=3, undirected=True)
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}
"""Of the portable path in single precision, relative to the compiled one."""
WAITS_PER_BATCH = {
    # nodes that have no self-loop yet
    **dict.fromkeys(("appnp", "gat-direct", "gcn-direct", "gcn-graphgym", "gcn-plus", "tuned-gnn", "vgae"), 2),
    **{"3wl-gnn": 3, "ringgnn": 2},  # pairs of nodes that are not zero
    **dict.fromkeys(("san", "san-gps", "san-lspe"), 1),  # pairs of nodes
    **dict.fromkeys(("graphit-lspe", "grit"), 6),  # walks between pairs, by buckets of sizes
    **dict.fromkeys(("graphormer", "graphormer-gps"), 1),  # shortest paths are searched on the host
    "exphormer": 3,  # expanders are drawn on the host
    "diffpool": 1,  # edges that are not parallel
}
"""Synchronizations in the first step on a batch, where a shape depends on the data."""
NO_DROPOUT = dict.fromkeys(("dropout", "attention_dropout", "mlp_dropout", "input_dropout"), 0.0)
BREAKING = {*WAITS_PER_BATCH, "dgn", "gps", "pna", "pna-lspe"}
"""Models whose graph `torch.compile` breaks, where a shape depends on the data or the host computes."""
DRAWING = ("graphstar", "vgae")
"""Models that draw random numbers in training, which differ from path to path."""


def model_of(name: str) -> tuple[nn.Module, GraphBatch]:
    """A model at its first supported task level, in training mode, and a batch for it."""
    level = next(iter(levels_of(name)))
    batch = batch_of(GRAPHS[:1] if level == "pair" else GRAPHS)
    features: dict[str, Any] = {"node_types": NODE_TYPES, "edge_types": EDGE_TYPES, "encoding_dim": ENCODING}
    if level == "pair":
        pairs = torch.tensor([[0, 1], [1, 0], [0, 0]])
        batch = batch.with_column("pairs", pairs)
        features = {**features, "num_nodes": batch.num_nodes}
    if name in ("nearest-neighbours",):
        features = {"edge_dim": 1, "node_types": NODE_TYPES}
    shapes = Shapes(outputs=1 if level == "pair" else 2, level=level, **features)
    seed_everything(1)
    model = build_model(name, shapes, accepted_settings(name, width=16, layers=2, **NO_DROPOUT))
    return model.train(name not in DRAWING), batch


def gradients(model: nn.Module, batch: GraphBatch) -> tuple[Tensor, dict[str, Tensor]]:
    """The output, and the gradient of each parameter of a weighted sum of it."""
    out = model(batch)
    (out * weights_of(out)).sum().backward()
    return out.detach().cpu(), {name: p.grad.cpu() for name, p in model.named_parameters() if p.grad is not None}


def weights_of(out: Tensor) -> Tensor:
    return torch.linspace(-1, 1, out.numel()).view(out.shape).to(out.device)


def close(ours: tuple[Tensor, dict[str, Tensor]], theirs: tuple[Tensor, dict[str, Tensor]]) -> None:
    torch.testing.assert_close(ours[0], theirs[0], **TOLERANCE)
    assert ours[1].keys() == theirs[1].keys()
    for name, gradient in ours[1].items():
        scale = float(theirs[1][name].abs().max())
        torch.testing.assert_close(gradient, theirs[1][name], rtol=1e-3, atol=1e-4 * max(1.0, scale), msg=name)


@pytest.mark.parametrize("name", MODELS.names())
def test_portable_path_matches_compiled_kernels(name: str) -> None:
    with compute_settings():
        compiled = gradients(*model_of(name))
        with portable_path():
            portable = gradients(*model_of(name))
    close(portable, compiled)


@pytest.mark.parametrize("device", ["cuda:0", "mps"])
@pytest.mark.parametrize("name", MODELS.names())
def test_model_stays_on_its_device(name: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with compute_settings():
        compiled = gradients(*model_of(name))
        model, batch = model_of(name)
        with pretended(device, monkeypatch) as mode:
            model.to(device)
            moved = batch.to(device)
            out = model(moved)
            (out * weights_of(out)).sum().backward()
            assert sum(mode.syncs.values()) <= WAITS_PER_BATCH.get(name, 0), dict(mode.syncs)
            ours = out.detach().cpu(), {n: p.grad.cpu() for n, p in model.named_parameters() if p.grad is not None}
            mode.syncs.clear()
            model.train()(moved).square().sum().backward()
            assert not mode.syncs, f"the second step on a batch waits for the device: {dict(mode.syncs)}"
    close(ours, compiled)
    assert mode.dtypes <= MPS_DTYPES
    assert not nondeterministic(mode.float_operators), "docs/devices.md says that no model has such an operator"
    outside = mode.operators - MPS_OPERATORS - CPU_ATTENTION
    assert device != "mps" or not outside, sorted(outside)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_loss_of_a_task_stays_on_its_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(MAKERS) == set(TASKS.names())
    task = make(name)
    target, right = MAKERS[name](task, torch.Generator().manual_seed(0))
    start = (right.float() * 0.1 + 0.3).requires_grad_()
    task.loss(start, target).backward()
    expected = start.grad
    with pretended("cuda:0", monkeypatch) as mode:
        predictions = start.detach().to("cuda:0").requires_grad_()
        there = target.to("cuda:0")
        loss = task.loss(predictions, there)
        loss.backward()
        assert not mode.syncs
        assert predictions.grad is not None
        gradient = predictions.grad.cpu()
        assert nondeterministic(mode.float_operators) <= {"nll_loss_forward"}, "docs/devices.md has the list"
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-7)


def test_operators_without_a_deterministic_algorithm_are_those_that_torch_documents() -> None:
    assert documented() == set(ATEN)
    for module in ("ops", "nn", "tasks"):
        for file in (Path(graphtrial.__file__).parent / module).rglob("*.py"):
            assert '"prod"' not in file.read_text(encoding="utf-8"), "scatter_reduce would not be deterministic"


def test_fake_device_raises_like_a_real_one() -> None:
    class OnTheHost(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return 2 * x

        @staticmethod
        def backward(ctx: Any, grad_output: Tensor) -> Tensor:
            return grad_output * torch.ones(grad_output.shape)

    with Pretended("cuda:0") as mode:
        x = torch.randn(3, 4).to("cuda:0").requires_grad_()
        assert (x.device.type, torch.ones(1).device.type) == ("cuda", "cpu")
        with pytest.raises(MixedDevicesError, match="mixes"):
            x + torch.ones(3, 4)
        with pytest.raises(MixedDevicesError, match="mixes"):
            OnTheHost.apply(x).sum().backward()
        for read in (lambda: x.detach().numpy(), lambda: x.data_ptr()):
            with pytest.raises(MixedDevicesError, match="of a tensor on cuda:0"):
                read()
        assert not mode.syncs
        x.sum().item(), x[x > 0], x.cpu()
        assert sum(mode.syncs.values()) == 3


def test_every_operator_of_the_mps_path_is_implemented_on_mps() -> None:
    """By torch's own table of operators, which is the same for every build."""
    import torchgen

    yaml = pytest.importorskip("yaml")
    table = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    entries = {str(e["func"]).partition("(")[0]: e for e in yaml.safe_load(table.read_text(encoding="utf-8"))}

    def implemented(entry: dict[str, Any]) -> bool:
        if "structured_delegate" in entry:
            return implemented(entries[entry["structured_delegate"]])
        keys = {key.strip() for keys in entry.get("dispatch") or {"Composite": ""} for key in keys.split(",")}
        return any(key == "MPS" or key.startswith("Composite") for key in keys)

    assert not [name for name in sorted(MPS_OPERATORS) if not implemented(entries[name])]
    assert not implemented(entries["segment_reduce"]), "the path for mps may use segment reductions now"


@pytest.mark.parametrize("name", marked_long(MODELS.names(), but=("gin",)))
def test_compiled_model_equals_the_eager_one(name: str) -> None:
    """On the path of other devices, traced by `torch.compile` and run without a code generator."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    (compiled, batch), (eager, _) = model_of(name), model_of(name)
    compile_model(compiled, backend="aot_eager")
    with portable_path():
        close(gradients(compiled, batch), gradients(eager, batch))
    breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
    assert (breaks > 0) == (name in BREAKING)
