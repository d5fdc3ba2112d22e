"""Files that are not plain data: pipes, devices, folders, and tensors without storage."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.datasets.custom import import_files
from graphtrial.datasets.custom.importers import FORMATS, read

ENDS = torch.tensor([[0, 1, 2], [1, 2, 0]])
MINUS = -torch.tensor([[1.5], [2.5], [3.5]])


def imported(folder: Path, **tensors: Any) -> Any:
    item = {"edge_index": ENDS, "y": torch.tensor([1]), **tensors}
    torch.save([item, item], folder / "graphs.pt")
    return read("pyg", [folder / "graphs.pt"], {})


@pytest.mark.parametrize(
    "strange",
    [
        torch.empty((3, 2), device="meta"),
        torch.zeros((3, 2)).to_sparse(),
        torch.zeros((3, 2)).to_sparse_csr(),
        torch.zeros((3, 2), dtype=torch.complex64),
        torch.quantize_per_tensor(torch.zeros((3, 2)), 0.1, 0, torch.qint8),
        torch.zeros(1).expand(10**12),
        torch.zeros(1, dtype=torch.int64).expand(2, 1 << 40),
    ],
    ids=["meta", "sparse", "csr", "complex", "quantized", "expanded", "expanded pairs"],
)
@pytest.mark.parametrize("name", ["x", "edge_index", "y", "num_nodes"])
def test_tensor_without_dense_numbers_gives_one_line_error(strange: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match=r"graphs\.pt") as caught:
        imported(tmp_path, **{name: strange})
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("nodes", [10**12, 2**31, -1, 1.5, True, "3", [3], torch.tensor([3, 3]), torch.tensor(3.5)])
def test_invalid_number_of_nodes_raises(nodes: Any, tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match="nodes"):
        imported(tmp_path, num_nodes=nodes)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (MINUS.to(torch.bfloat16), MINUS),
        (MINUS.to(torch.float8_e4m3fn), MINUS),
        (MINUS.to(torch.float16), MINUS),
        (torch._neg_view(-MINUS), MINUS),
        (MINUS[:1].expand(3, 1), MINUS[:1].repeat(3, 1)),
        (MINUS.requires_grad_(), MINUS),
    ],
    ids=["bfloat16", "float8", "float16", "negative bit", "expanded", "gradient"],
)
def test_tensor_dtypes_are_converted(stored: Any, expected: Any, tmp_path: Path) -> None:
    values = imported(tmp_path, x=stored).column("x").values
    np.testing.assert_array_equal(values.astype(np.float32), expected.detach().repeat(2, 1).numpy())


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def device(path: Path) -> Path:
    path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("make", [pipe, folder, device])
@pytest.mark.parametrize("kind", FORMATS)
def test_device_files_raise_immediately(kind: str, make: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match=r"is a (pipe|folder|device), not a regular file"):
        import_files("mine", kind, [make(tmp_path / "it")])


def test_implausible_number_of_nodes_raises(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"nodes": 2000000000, "edges": [], "y": 0}\n')
    with pytest.raises(CorruptFileError, match="has 2,000,000,000 nodes; a dataset of your own has at most"):
        read("jsonl", [tmp_path / "a.jsonl"], {})


@pytest.mark.parametrize(
    "fractions", [[float("nan"), 0, 0], [float("inf"), 0, 0], [1, 0, 0], [0.5, 0.5], [0.9, 0.9, 0.9]]
)
def test_invalid_fractions_raise(fractions: list[float], tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"nodes": 2, "edges": [], "y": 0}\n' * 20)
    with pytest.raises(GraphTrialError, match=r"shares|fractions"):
        import_files("mine", "jsonl", [tmp_path / "a.jsonl"], split={"shares": fractions, "seed": 0})
