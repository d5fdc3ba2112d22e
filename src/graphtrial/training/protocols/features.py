"""The rules by which a support vector machine is tried on features alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from graphtrial.core.arguments import Positive, Whole, check_fields
from graphtrial.core.spec import resolve_arguments

MACHINE, MACHINE_TITLE = "svm", "SVM"
"""What stands for the model in such a trial, and its display name."""


@dataclass(frozen=True)
class FeatureSvmRules:
    """The rules of one support vector machine with a Gaussian kernel on features; part of a trial's identity.

    The kernel is exp(-g |x - y|^2) with g = 1 / (numbers per example x their variance) over the training part. Nodes
    have their features, pairs those of both nodes side by side. Of more than `examples` training examples so many are
    drawn by the seed, half of them links where there are pairs; 0 takes all.
    """

    kind: Literal["feature-svm"] = "feature-svm"
    penalty: Positive = 8.0
    examples: Whole = 0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def is_deterministic(self) -> bool:
        """The seed decides nothing: no examples are drawn."""
        return self.examples == 0

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> FeatureSvmRules:
        """Make rules from plain values; an unknown key is an error that names the nearest known one."""
        return cls(**resolve_arguments(cls, values, "the rules of a support vector machine on features"))
