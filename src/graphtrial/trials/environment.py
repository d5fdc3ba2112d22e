"""Environment of a trial: versions, processor, code; no names of machines, users or folders."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path
from typing import Any

from graphtrial.core.hardware.compute import ONE_CORE, Compute
from graphtrial.core.hardware.devices import describe_device
from graphtrial.core.hardware.speed import processor_name
from graphtrial.core.plugins.packages import installed_version

BATCHED_TRIALS = "batched_trials"
"""Key of the number of trials in one vectorized training, as in stores."""
NUMERICS_KEY = "numerics"
"""Key of the version of the order of arithmetic, as in stores; trials without it have 1."""
NUMERICS = 9
"""Version of the order of arithmetic, which decides the last bits of results; raised where operators round differently.

- 1: sums over all rows in one go.
- 2: sums over rows (gradients of weights and biases, statistics of batch norm) by blocks that follow from the shape, so
  that any number of threads gives the same bits; linear layers of encoders and heads by our own matrix product.
- 3: small matrix products, sums of gradients over rows, and batch norm in evaluation by kernels of our own; Adam rounds
  the last elements of a tensor like all others; 3WL-GNN on pairs without padding, by compiled kernels.
- 4: attention within graphs (GPS) by a compiled kernel, with dropout masks of its own; the linear layer of structural
  encodings by our own matrix product. Models of other families have the bits of 3.
- 5: scores of GAT with one or two heads or with dropout, Gaussian weights and sums of MoNet, and the gradients of their
  biases, by compiled kernels; logits and gradients of the first steps on ZINC are within 1e-6 of the largest of those
  of 4. Models of other families have the bits of 4.
- 6: the aggregators and towers of PNA, the towers of DGN and PNA-LSPE by compiled kernels; the gradient of the bias of
  GCN+ summed by blocks. All other models have the bits of 5.
- 7: kernels declared exact are never fused; in 6 numba fused multiply and add in those of PNA and GCN+ where their
  first caller was a recorded program. All other models have the bits of 6.
- 8: pair states of GRIT by a compiled kernel with square roots rounded to the nearest, which torch's are not, and their
  weighted sum without a tensor of products. All other models have the bits of 7.
- 9: logits, weights and sums of Exphormer's attention by one compiled kernel. All other models have the bits of 8.
"""
COMPILED = "compiled"
"""Key of a model that was compiled as a whole."""
DEVICE_FIELDS = ("device", "gpu", "cuda", "cudnn", COMPILED)
"""Fields of the device that a trial was computed on; without the first it was the CPU."""
PACKAGES = ("graphtrial", "torch", "numpy", "scipy", "safetensors", "rdkit")


def environment(compute: Compute = ONE_CORE) -> dict[str, Any]:
    """Return the properties of this process that a result may depend on, and where it computes."""
    compiled = {COMPILED: True} if compute.compile else {}
    return {**_process(), "threads": compute.threads or 1, **describe_device(compute.device), **compiled}


@cache
def _process() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cpu": processor_name(),
        "cores": os.cpu_count(),
        NUMERICS_KEY: NUMERICS,
        "packages": {name: installed for name in PACKAGES if (installed := installed_version(name))},
        "code": _code_digest(),
    }


def _code_digest() -> str:
    """Return a hash of the source of this package, which distinguishes states of the code with the same version."""
    root = Path(__file__).parents[1]
    hasher = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        hasher.update(file.relative_to(root).as_posix().encode())
        hasher.update(file.read_bytes())
    return hasher.hexdigest()[:16]
