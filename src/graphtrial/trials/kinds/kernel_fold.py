"""One fold of a cross-validated support vector machine on a graph kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.registry import version_of
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import Component, differing, resolve_arguments
from graphtrial.datasets import Dataset
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials.kinds.base import TrialKind
from graphtrial.trials.kinds.folds import fold_of, graph_classes

if TYPE_CHECKING:
    from graphtrial.core.registry import Registry
    from graphtrial.training.checkpoint import Checkpoint
    from graphtrial.trials.trial import TrialSpec

STEPS = "h"
"""Argument of kernels with label refinement: the number of iterations."""
OUTPUTS = {"svc": "gram", "linear": "features"}


class KernelFold(TrialKind[KernelFoldRules]):
    """Fit support vector machines on the training set of a fold, select one on its validation set, and test it.

    The number of refinement steps `h`, for kernels that have such an argument, and the penalty are selected. Gram
    matrices are computed once for all folds. The seed draws the folds, unless the rules fix them.
    """

    rules_types = (KernelFoldRules,)
    noun = "kernel"
    needs_sklearn = True

    def resolve(self, model: Component) -> Component:
        """Return a kernel with the `output` of the solver; an explicit `h` is stored even if it is the default."""
        kernel = _kernels().get(model.name)
        if "output" in model.arguments:
            raise GraphTrialError("the output of a kernel follows from the machine: leave it out")
        if self.rules.machine == "linear" and not kernel.explicit:
            raise GraphTrialError(f"kernel '{model.name}' has no features for a linear machine; it needs machine=svc")
        arguments = resolve_arguments(kernel, model.arguments, f"kernel '{model.name}'")
        given = differing(kernel, arguments)
        return Component(
            model.name, {key: arguments[key] for key in arguments if key in given or _is_fixed(key, model)}
        )

    def settings(self, model: Component, version: int | None = None) -> dict[str, Any]:
        try:
            kernel = _kernels().get(model.name)
            if version not in (None, self.version(model.name)):
                return model.arguments
            arguments = resolve_arguments(kernel, model.arguments, f"kernel '{model.name}'")
        except (GraphTrialError, ImportError):  # an unregistered kernel, or no scikit-learn
            return model.arguments
        arguments["output"] = OUTPUTS[self.rules.machine]
        return {key: value for key, value in arguments.items() if key != STEPS or _is_fixed(key, model)}

    def version(self, name: str) -> int:
        return version_of(_kernels(), name)

    def origins(self, name: str) -> tuple[Any, ...]:
        return (_kernels().get(name),)

    @property
    def draws_folds(self) -> bool:
        return not self.is_nested

    @property
    def is_nested(self) -> bool:
        return self.rules.fold_seed is not None

    def split_count(self, dataset: Dataset | None) -> int:
        return self.rules.folds

    def run(
        self,
        spec: TrialSpec,
        dataset: Dataset,
        checkpoint: Path | Checkpoint,
        on_epoch: Callable[[Epoch], None],
        compute: Compute,
    ) -> Outcome:
        """Run one fold; there is no checkpoint, as it takes seconds."""
        from graphtrial.svm.cross_validation import select_and_test
        from graphtrial.trials.kinds.gram_cache import kernel_matrix

        y = graph_classes(dataset)
        start = time.perf_counter()
        steps = self._steps(spec)
        matrices = [
            kernel_matrix(dataset, Component(spec.model.name, spec.settings | ({} if h is None else {STEPS: h})))
            for h in steps
        ]
        fold = fold_of(spec, dataset, self.rules)
        selection = select_and_test(matrices, y, fold, self.rules)
        details = {
            "h": steps[selection.matrix],
            "penalty": selection.penalty,
            "validation": {
                "none" if h is None else str(h): list(row) for h, row in zip(steps, selection.validation, strict=True)
            },
            "seconds": time.perf_counter() - start,
        }
        return Outcome("done", 0, [], selection.scores, details=details)

    def _steps(self, spec: TrialSpec) -> list[int | None]:
        """Return the refinement steps to select from; `None` alone where the kernel has none, or a fixed number."""
        has_steps = STEPS in declared_arguments(_kernels().get(spec.model.name))
        return list(self.rules.h) if has_steps and STEPS not in spec.settings else [None]

    def title(self, name: str) -> str:
        return _kernels().title(name)


def _is_fixed(key: str, model: Component) -> bool:
    """Whether an argument is the number of refinement steps, and given."""
    return key == STEPS and key in model.arguments


def _kernels() -> Registry[Any]:
    from graphtrial.kernels import KERNELS  # imports scikit-learn, which stores without kernels need not have

    return KERNELS
