"""Operators that have no deterministic algorithm on CUDA, by the documentation of the installed torch."""

from __future__ import annotations

import re

import torch

ATEN = {
    "AvgPool3d": "avg_pool3d_backward",
    "AdaptiveAvgPool2d": "_adaptive_avg_pool2d_backward",
    "AdaptiveAvgPool3d": "_adaptive_avg_pool3d_backward",
    "AdaptiveMaxPool2d": "adaptive_max_pool2d_backward",
    "FractionalMaxPool2d": "fractional_max_pool2d_backward",
    "FractionalMaxPool3d": "fractional_max_pool3d_backward",
    "MaxUnpool1d": "max_unpool2d",
    "MaxUnpool2d": "max_unpool2d",
    "MaxUnpool3d": "max_unpool3d",
    "interpolate": "upsample_linear1d_backward",
    "ReflectionPad1d": "reflection_pad1d_backward",
    "ReflectionPad2d": "reflection_pad2d_backward",
    "ReflectionPad3d": "reflection_pad3d_backward",
    "NLLLoss": "nll_loss_forward",
    "CTCLoss": "_ctc_loss_backward",
    "EmbeddingBag": "_embedding_bag_backward",
    "put_": "put_",
    "histc": "histc",
    "bincount": "bincount",
    "median": "median",
    "grid_sample": "grid_sampler_2d_backward",
    "cumsum": "cumsum",
    "scatter_reduce": "scatter_reduce prod",
    "resize_": "resize_",
}
"""ATen operator of each function or module of the list; scatter_reduce is on it with `prod` only, which is unused."""


def documented() -> set[str]:
    """Return the functions and modules that `torch.use_deterministic_algorithms` lists as raising an error."""
    text = (torch.use_deterministic_algorithms.__doc__ or "").partition("RuntimeError` when ``mode=True``:")[2]
    section = text.partition("In addition,")[0]
    return {name.rpartition(".")[2] for name in re.findall(r"\* :\w+:`([\w.]+)`", section)}


def nondeterministic(operators: set[str]) -> set[str]:
    """Return those of the ATen operators that have no deterministic algorithm on CUDA."""
    return {name for name in operators if name.partition(".")[0] in ATEN.values()}
