"""The rules by which a support vector machine is tried on features alone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from graphtrial.errors import GraphTrialError
from graphtrial.spec import reject_unknown_keys

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
    penalty: float = 8.0
    examples: int = 0

    def __post_init__(self) -> None:
        if self.penalty <= 0 or self.examples < 0:
            raise GraphTrialError(
                f"penalty must be above 0 and examples at least 0, not {self.penalty}, {self.examples}"
            )

    @property
    def is_deterministic(self) -> bool:
        """The seed decides nothing: no examples are drawn."""
        return self.examples == 0

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> FeatureSvmRules:
        """Make rules from plain values; an unknown key is an error that names the nearest known one."""
        known: dict[str, Any] = {f.name: None for f in fields(cls)}
        reject_unknown_keys(values, known, "the rules of a support vector machine on features")
        return cls(**values)
