"""Run a search: propose configurations, train them without a test score, choose by the validation score."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphtrial.core.errors import GraphTrialError
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.results import Proposal, Result, read_results
from graphtrial.tuning.samplers import Observation

Run = Callable[[Sequence[TrialSpec], int | None], None]
"""Runs trials that have no result yet, up to an epoch at which they pause, or to their end."""


class Proposals:
    """The proposals of a search, in order; each is a pure function of the declaration and of earlier results."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self.sampler = tuning.sampler()
        self.history: list[Proposal] = []
        self.exhausted = False
        self._ids: set[str] = set()

    def extend(self, results: Sequence[Result]) -> Proposal | None:
        """Append the next proposal and return it; `None` if the space has no other configuration.

        It depends on the first `k + 1 - lag` of the results, however many more are there.
        """
        number = len(self.history)
        observations = self._observations(results) if self.sampler.adaptive else []
        for point in self.sampler.candidates(number, observations):
            try:
                configuration = self.tuning.subject.configure(self.tuning.space, point)
            except GraphTrialError:  # too large, or settings that contradict each other
                continue
            trials = self.tuning.search_trials(configuration)
            if trials[0].id in self._ids:
                continue
            self._ids.add(trials[0].id)
            self.history.append(Proposal(number, point, configuration, tuple(trials)))
            return self.history[-1]
        self.exhausted = True
        return None

    def _observations(self, results: Sequence[Result]) -> list[Observation]:
        visible = results[: max(0, len(self.history) + 1 - self.tuning.options.lag)]
        scores = [None if result.score is None else result.loss for result in visible]
        seen = [Observation(each.point, score) for each, score in zip(self.history, scores, strict=False)]
        return seen + [Observation(each.point, None, pending=True) for each in self.history[len(seen) :]]


def search(tuning: Tuning, store: Store, run: Run) -> tuple[list[Proposal], list[Result]]:
    """Run a search until its budget is spent or its space exhausted; return proposals and results.

    Blocks of `lag` configurations run at once; without a limit by results, all of them do.
    """
    proposals = Proposals(tuning)
    results: list[Result] = []
    lag = tuning.options.lag
    at_once = None if tuning.budget.unit == "trials" and not proposals.sampler.adaptive else lag
    while True:
        block: list[Proposal] = []
        while (at_once is None or len(block) < at_once) and _affords(tuning, len(proposals.history), results):
            proposal = proposals.extend(results)
            if proposal is None:
                break
            block.append(proposal)
        if not block:
            return proposals.history, results
        run([trial for proposal in block for trial in proposal.trials], None)
        results += read_results(store, block)


def _affords(tuning: Tuning, number: int, results: Sequence[Result]) -> bool:
    """Whether the budget allows the proposal of this number, by the results that it may depend on."""
    budget = tuning.budget
    if budget.unit == "trials":
        return (number + 1) * tuning.trials_each <= budget.amount
    visible = results[: max(0, number + 1 - tuning.options.lag)]
    return not budget.is_spent(sum(one.epochs for one in visible), sum(one.seconds for one in visible))


def best(results: Sequence[Result]) -> int:
    """Return the number of the result with the best validation score, the first of equals; none at all is an error."""
    if all(result.score is None for result in results):
        statuses = sorted({status for result in results for status in result.statuses})
        raise GraphTrialError(
            f"no configuration of the search has a validation score: its trials ended as {', '.join(statuses)}; "
            "`graphtrial status` lists them"
        )
    return min(range(len(results)), key=lambda number: results[number].loss)
