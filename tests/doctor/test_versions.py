"""The facts of a bug report against what the packages themselves say."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
import torch

from graphtrial.doctor.versions import versions
from graphtrial.trials.environment import NUMERICS
from graphtrial.trials.store.schema import SCHEMA_VERSION


def test_versions_are_those_of_the_imported_packages() -> None:
    facts = versions()
    assert facts["python"] == platform.python_version()
    assert facts["packages"]["torch"] == torch.__version__
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["packages"]["numba"] == numba.__version__
    torch_geometric = pytest.importorskip("torch_geometric")
    assert facts["packages"]["torch_geometric"] == torch_geometric.__version__
    assert (facts["numerics"], facts["store_schema"]) == (NUMERICS, SCHEMA_VERSION)


def test_devices_and_kernels_are_described() -> None:
    facts = versions()
    has_gpu = torch.cuda.is_available() or torch.backends.mps.is_available()
    assert facts["devices"][0]["device"] in (("cuda", "mps") if has_gpu else ("cpu",))
    assert facts["kernels"].startswith("portable" if has_gpu else "compiled")


def test_no_name_of_user_or_folder_is_in_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHTRIAL_HOME", "/somewhere/secret")
    text = json.dumps(versions())
    assert "GRAPHTRIAL_HOME" in text
    assert "secret" not in text
    assert str(Path.home()) not in text


def test_broken_installation_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphtrial.ops.vector_paths", None)
    facts = versions()
    assert "vector_paths" in facts["error"]
    assert facts["packages"]["torch"] == torch.__version__
