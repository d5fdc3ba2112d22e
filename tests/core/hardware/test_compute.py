"""Where trials are computed: notation of devices, slots, threads."""

from __future__ import annotations

import pytest

from graphtrial.core import parallel
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware import compute
from graphtrial.core.hardware.compute import Compute


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "_cuda_devices", lambda: ("cuda:0", "cuda:1"))
    monkeypatch.setattr(compute, "_has_mps", lambda: False)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "_cuda_devices", tuple)
    monkeypatch.setattr(compute, "_has_mps", lambda: False)


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "cores", lambda: 4)
    monkeypatch.setattr(parallel, "cores", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cpu:0", "", "CUDA", "cuda:0;"])
def test_unknown_device_gives_one_line_error(device: str) -> None:
    with pytest.raises(GraphTrialError, match="use auto, cpu, cuda, cuda:N or mps"):
        Compute(device)


@pytest.mark.usefixtures("two_gpus", "four_cores")
def test_trials_are_assigned_to_gpus_round_robin() -> None:
    assert Compute("auto").devices() == ("cuda:0", "cuda:1")
    assert Compute("cuda").slots() == ["cuda:0", "cuda:1"]
    assert Compute("cuda", per_device=2).slots() == ["cuda:0", "cuda:1", "cuda:0", "cuda:1"]
    assert Compute("cuda", per_device=2).slots(3) == ["cuda:0", "cuda:1", "cuda:0"]
    assert Compute("cuda:1", per_device=2).slots() == ["cuda:1", "cuda:1"]
    assert Compute("cpu").slots() == ["cpu"] * 4
    with pytest.raises(GraphTrialError, match="no cuda:2 here, only cuda:0, cuda:1"):
        Compute("cuda:2").devices()


@pytest.mark.usefixtures("no_gpu")
def test_missing_gpu_raises_unless_device_is_auto() -> None:
    assert Compute("auto").devices() == ("cpu",)
    for device in ("cuda", "cuda:0", "mps"):
        with pytest.raises(GraphTrialError, match="--device cpu"):
            Compute(device).slots()


@pytest.mark.usefixtures("no_gpu", "four_cores")
def test_cores_are_divided_among_concurrent_trials() -> None:
    assert [Compute().placed(at_once=n).threads for n in (1, 2, 3, 4, 9)] == [4, 2, 1, 1, 1]
    assert Compute(threads=3).placed(at_once=4).threads == 3


@pytest.mark.usefixtures("no_gpu", "four_cores")
@pytest.mark.parametrize(("limit", "threads"), [("2", 2), ("8", 4), ("0", 1), ("", 4), ("4,2", 4)])
def test_omp_num_threads_limits_the_default(monkeypatch: pytest.MonkeyPatch, limit: str, threads: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert Compute().placed().threads == threads
    assert Compute(threads=3).placed().threads == 3
    assert Compute().placed().device == "cpu"
