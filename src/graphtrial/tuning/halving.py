"""Successive halving (Jamieson and Talwalkar, AISTATS 2016): train all briefly, resume the best ones, and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from graphtrial.core.errors import GraphTrialError
from graphtrial.trials.kinds import kind_of
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.results import Proposal, Result, read_results
from graphtrial.tuning.search import Proposals, Run
from graphtrial.tuning.space import MOST_POINTS


@dataclass(frozen=True)
class Rung:
    """A stage of successive halving: how many configurations train up to which epoch; the last to their end."""

    configurations: int
    epochs: int | None


def rungs(configurations: int, full_epochs: int, eta: int) -> list[Rung]:
    """Return the rungs of a bracket: each has one in `eta` configurations of the one before, for `eta` times as long.

    `full_epochs` is the expected length of a training. The first rung has at least one epoch, the last at least one
    configuration.
    """
    count = 1
    while configurations >= eta**count and full_epochs >= eta**count:
        count += 1
    return [
        Rung(max(1, configurations // eta**step), ceil(full_epochs / eta ** (count - 1 - step)))
        for step in range(count - 1)
    ] + [Rung(max(1, configurations // eta ** (count - 1)), None)]


def cost(bracket: Sequence[Rung], full_epochs: int) -> int:
    """Return the epochs of a bracket in which every promoted configuration is trained for `full_epochs`."""
    total, before = 0, 0
    for rung in bracket:
        epochs = full_epochs if rung.epochs is None else rung.epochs
        total += rung.configurations * (epochs - before)
        before = epochs
    return total


def full_epochs(tuning: Tuning) -> int:
    """Return the expected number of epochs of a training, by the rules before any of them is searched."""
    epochs = kind_of(tuning.subject.base_rules).expected_epochs
    if epochs is None:
        raise GraphTrialError("successive halving needs an epoch limit: --rule stopping.max_epochs=N sets one")
    return epochs


def bracket_size(tuning: Tuning) -> int:
    """Return the number of configurations of a bracket: the most within the budget, or `eta` squared within hours."""
    budget, eta, epochs = tuning.budget, tuning.options.eta, full_epochs(tuning)
    if budget.unit == "hours":
        return eta**2
    if budget.unit == "trials":
        return int(budget.amount) // tuning.trials_each
    allowed = budget.amount / tuning.trials_each
    for size in range(min(int(allowed), MOST_POINTS), 0, -1):  # not monotone: one more rung makes a bracket cheaper
        if cost(rungs(size, epochs, eta), epochs) <= allowed:
            return size
    raise GraphTrialError(
        f"a budget of {budget} cannot finish one configuration, which takes about {epochs * tuning.trials_each} epochs"
    )


def halve(tuning: Tuning, store: Store, run: Run) -> tuple[list[Proposal], list[Result]]:
    """Run brackets of successive halving until the budget is spent; return proposals and their last results.

    Promoted trials resume from their checkpoints; the others stay paused. Only those of a last rung have a score, and
    only epochs up to the rung that a trial reached are counted, whatever another search has trained.
    """
    size, epochs = bracket_size(tuning), full_epochs(tuning)
    proposals = Proposals(tuning)
    reached: dict[int, int | None] = {}
    while True:
        first = len(proposals.history)
        while len(proposals.history) < first + size and proposals.extend([]) is not None:
            pass
        bracket = proposals.history[first:]
        stages = rungs(len(bracket), epochs, tuning.options.eta) if bracket else []
        for rung, following in zip(stages, [*stages[1:], None], strict=True):
            run(_short_of(bracket, store, rung.epochs), rung.epochs)
            reached |= {proposal.number: rung.epochs for proposal in bracket}
            if following is not None:
                bracket = _promoted(bracket, read_results(store, bracket, rung.epochs), following.configurations)
        results = [_last_result(store, proposal, reached[proposal.number]) for proposal in proposals.history]
        spent = tuning.budget.unit != "hours" or tuning.budget.is_spent(0, sum(one.seconds for one in results))
        if spent or proposals.exhausted:
            return proposals.history, results


def _last_result(store: Store, proposal: Proposal, epochs: int | None) -> Result:
    (result,) = read_results(store, [proposal], epochs)
    return result if epochs is None else replace(result, score=None, statuses=("paused",) * len(proposal.trials))


def _promoted(bracket: Sequence[Proposal], results: Sequence[Result], count: int) -> list[Proposal]:
    """Return the configurations with the best scores, the first of equals, in their order."""
    order = sorted(range(len(bracket)), key=lambda position: results[position].loss)
    return [bracket[position] for position in sorted(order[:count])]


def _short_of(bracket: Sequence[Proposal], store: Store, epochs: int | None) -> list[TrialSpec]:
    """Return the trials that have not reached an epoch yet, or, without one, all."""
    trials = [trial for proposal in bracket for trial in proposal.trials]
    if epochs is None:
        return trials
    paused = {record.id for record in store.trials([trial.id for trial in trials]) if record.status == "paused"}
    return [trial for trial in trials if trial.id not in paused or len(store.history(trial.id)) < epochs]
