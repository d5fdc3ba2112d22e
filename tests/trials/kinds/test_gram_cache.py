"""Cached Gram matrices: never those of another kernel, corruption is detected."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from graphtrial.core.plugins import loader as plugins
from graphtrial.core.plugins.loader import load_plugin
from graphtrial.core.spec import Component
from graphtrial.datasets import load
from graphtrial.trials.kinds.gram_cache import kernel_matrix

MINE = """
import numpy as np
from graphtrial.kernels import KERNELS
from graphtrial.kernels.histogram import VertexHistogram

@KERNELS.register("mine")
class Mine(VertexHistogram):
    def fit_transform(self, graphs, y=None):
        return np.full((len(graphs), len(graphs)), {number}.0)
"""


@pytest.fixture(autouse=True)
def _no_plugin_stays() -> Iterator[None]:
    yield
    for plugin in list(plugins._loaded.values()):
        plugins.unload_plugin(plugin)


def test_edited_kernel_has_its_own_gram_matrix(tmp_path: Path, own_home: Path) -> None:
    dataset = load("csl")
    for number in (1, 2, 1):
        (tmp_path / "mine.py").write_text(MINE.format(number=number))
        load_plugin(tmp_path / "mine.py")
        assert np.unique(kernel_matrix(dataset, Component("mine", {"output": "gram"}))).tolist() == [number]


@pytest.mark.parametrize("output", ["gram", "features"])
def test_flipped_bit_of_a_cached_gram_matrix_is_detected(output: str, own_home: Path) -> None:
    dataset, kernel = load("csl"), Component("wl", {"output": output, "h": 2})

    def numbers() -> object:
        built = kernel_matrix(dataset, kernel)
        return (built if output == "gram" else built.toarray()).tolist()

    expected = numbers()
    files = [path for path in sorted((own_home / "kernels").rglob("*")) if path.suffix in (".npy", ".json")]
    rng = random.Random(output)
    for number in range(30):
        file = files[number % len(files)]
        content = bytearray(file.read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(content)
        assert numbers() == expected
