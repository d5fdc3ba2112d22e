"""Export of a dataset as a torch file of dictionaries of tensors, with PyG's names.

[Data(**item) for item in torch.load("graphs.pt", weights_only=True)]
"""

from __future__ import annotations

from pathlib import Path

import torch

from graphtrial.core.files import atomic_path
from graphtrial.datasets.dataset import Dataset


def write_pyg(dataset: Dataset, path: Path) -> None:
    """Write the graphs of `dataset.to_pyg()`, with masks or `split`, without any pickled object."""
    items = [item.to_dict() for item in dataset.to_pyg()]
    with atomic_path(path) as temporary:
        torch.save(items, temporary)
