"""ATen operators and dtypes that a trial may use on Apple's GPUs, where torch has no other path."""

from __future__ import annotations

from pathlib import Path

import torch

MPS_DTYPES = {torch.float32, torch.int64, torch.int32, torch.bool, torch.uint8}
CPU_ATTENTION = {
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention_for_cpu_backward",
}
"""Operators of `scaled_dot_product_attention` on the CPU, hence on a fake device; mps has one of its own."""
MPS_OPERATORS = set(Path(__file__).with_name("mps_operators.txt").read_text(encoding="utf-8").split())
