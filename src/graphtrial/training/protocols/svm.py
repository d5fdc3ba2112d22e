"""The rules by which a kernel is tried."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from graphtrial.errors import GraphTrialError
from graphtrial.spec import reject_unknown_keys

Machine = Literal["svc", "linear"]


@dataclass(frozen=True)
class SvmRules:
    """The rules of one fold of a cross-validated support vector machine; part of a trial's identity.

    The seed of a trial shuffles the graphs and divides them into `folds`; the trial's split says which is tested. A
    share `validation` of the rest, also drawn by the seed, chooses the steps of refinement among `h`, for kernels that
    have such a setting, and the penalty among `penalties`: of equally good choices the first, in the order of h and
    then of the penalties. What is tested was fitted to the training part alone. `machine` is the one of LIBSVM on the
    Gram matrix (`svc`), or LIBLINEAR on the explicit features (`linear`) for sets too large for a matrix.
    """

    kind: Literal["kernel-svm"] = "kernel-svm"
    folds: int = 10
    validation: float = 0.1
    h: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    penalties: tuple[float, ...] = (1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3)
    machine: Machine = "svc"

    def __post_init__(self) -> None:
        if self.folds < 2 or not 0 < self.validation < 1:
            raise GraphTrialError(
                f"folds must be 2 or more and validation a share between 0 and 1, not {self.folds}, {self.validation}"
            )
        if not self.h or min(self.h) < 0 or not self.penalties or min(self.penalties) <= 0:
            raise GraphTrialError("h needs whole numbers from 0, penalties need numbers above 0, one at least of each")
        if self.machine not in ("svc", "linear"):
            raise GraphTrialError(f"machine must be 'svc' or 'linear', not {self.machine!r}")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> SvmRules:
        """Make rules from plain values; an unknown key is an error that names the nearest known one."""
        known: dict[str, Any] = {f.name: None for f in fields(cls)}
        reject_unknown_keys(values, known, "the rules of a kernel's trial")
        lists: dict[str, Any] = {key: tuple(values[key]) for key in ("h", "penalties") if key in values}
        return cls(**(values | lists))
