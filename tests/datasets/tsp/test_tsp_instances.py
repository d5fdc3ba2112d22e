"""Instances that are solved in chunks, and kept."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.datasets.tsp import generate
from graphtrial.datasets.tsp.generate import estimated_hours
from graphtrial.datasets.tsp.instances import CHUNK, InstanceConfig, count_solved, solved_instances

pytest.importorskip("highspy")
FEW = InstanceConfig(low=6, high=12, seed=3)


def test_smaller_dataset_is_a_prefix_of_the_larger_one(own_home: Path) -> None:
    few, more = generate(10, 6, 12, seed=3, workers=1), generate(20, 6, 12, seed=3, workers=1)
    assert len(few) == 10
    assert few.content_hash == more.subset(range(10)).content_hash
    assert count_solved(FEW, 20) == 20
    assert count_solved(FEW, 100) == 3 * CHUNK
    sizes = more.node_counts
    assert sizes.min() >= 6
    assert sizes.max() <= 12
    np.testing.assert_array_equal(more.column("length").values, more.column("bound").values)


def test_corrupt_chunk_is_recomputed(own_home: Path) -> None:
    before = solved_instances(FEW, 2 * CHUNK, workers=1)
    tours = FEW.folder / "00001" / "tours.npy"
    content = bytearray(tours.read_bytes())
    content[-1] ^= 1
    tours.write_bytes(content)
    shutil.rmtree(FEW.folder / "00000")
    after = solved_instances(FEW, 2 * CHUNK, workers=1)
    np.testing.assert_array_equal(before.tours, after.tours)


@pytest.mark.slow
def test_killed_preparation_resumes(own_home: Path) -> None:
    recipe = InstanceConfig(low=12, high=12, seed=5)
    code = (
        "from graphtrial.datasets.tsp.instances import *; solved_instances(InstanceConfig(12, 12, 5), 4000, workers=1)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "GRAPHTRIAL_HOME": str(own_home)})
    try:
        deadline = time.monotonic() + 300
        while count_solved(recipe, 4000) == 0 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    remaining = count_solved(recipe, 4000)
    assert 0 < remaining < 4000
    first = (recipe.folder / "00000").stat().st_mtime_ns
    assert len(solved_instances(recipe, CHUNK, workers=1).length) == CHUNK
    assert (recipe.folder / "00000").stat().st_mtime_ns == first


def test_geographic_metric_is_in_whole_kilometres(own_home: Path) -> None:
    built = generate(4, 20, 30, seed=0, metric="geographic", workers=1)
    length = built.column("length").values
    np.testing.assert_array_equal(length, np.rint(length))
    assert (length > 300).all()  # the square is 185 km wide
    assert built.column("proved").values.all()


def test_time_estimate_grows_with_number_and_size() -> None:
    assert estimated_hours(InstanceConfig(50, 500, 0), 0) == 0
    assert 10 < estimated_hours(InstanceConfig(50, 500, 0), 12_000) < 500
    assert estimated_hours(InstanceConfig(400, 500, 0), 10) < estimated_hours(InstanceConfig(600, 700, 0), 10)
    assert estimated_hours(InstanceConfig(50, 60, 0), 200) < 0.1


def test_invalid_arguments_name_the_allowed_ones() -> None:
    with pytest.raises(GraphTrialError, match="5 to 2000 points"):
        generate(1, low=4)
    with pytest.raises(GraphTrialError, match="low is at most high"):
        generate(1, low=20, high=10)
    with pytest.raises(UnknownNameError, match="Did you mean 'geographic'"):
        generate(1, metric="geografic")
    with pytest.raises(GraphTrialError, match="number of instances must be at least 1"):
        generate(0)
    with pytest.raises(GraphTrialError, match="above 0 seconds"):
        generate(1, time_limit=0)
