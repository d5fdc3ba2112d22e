"""Declaration of a search: everything that determines its proposals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from graphtrial.core.arguments import NonNegativeInt, PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import digest
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.tune_options import TuneOptions
from graphtrial.trials.kinds import kind_of
from graphtrial.trials.store.searches import FOLD
from graphtrial.trials.trial import TrialSpec
from graphtrial.tuning.budget import Budget
from graphtrial.tuning.check import check_feasible, check_space, corners
from graphtrial.tuning.samplers import HALVING, Sampler, make_sampler
from graphtrial.tuning.space import Space
from graphtrial.tuning.subject import Configuration, Subject

MOST_CORNERS = 256


@dataclass(frozen=True)
class Tuning:
    """A search over a space, on the validation part only, and how the chosen configuration is tested.

    `seeds` and `splits` are those of the test; all of the protocol by default. The validation scores of a configuration
    are averaged over its `tuning_seeds`, none of which is tested on, and over the first `tuning_splits`. Under a
    protocol of nested selection there is one search for each outer `fold`: searched on its training part, tested on it.
    """

    subject: Subject
    space: Space
    options: TuneOptions
    seeds: PositiveInt | None = None
    splits: PositiveInt | None = None
    fold: NonNegativeInt | None = None

    def __post_init__(self) -> None:
        """Validate the space, the budget and the search; nothing has run yet."""
        check_fields(self, "the search")
        subject = self.subject
        space = check_space(subject.narrowed(self.space), subject.model, subject.base_rules)
        object.__setattr__(self, "space", space)
        self._check_splits()
        self.sampler()
        check_feasible(space, subject)
        self._check_budget()

    def sampler(self) -> Sampler:
        """Return the sampler of the search."""
        return make_sampler(self.options.search, self.space, self.options.seed)

    @cached_property
    def budget(self) -> Budget:
        """What the search may spend."""
        return Budget.parse(self.options.budget)

    @property
    def is_halving(self) -> bool:
        """Whether configurations are promoted rung by rung."""
        return self.options.search == HALVING

    @property
    def trials_each(self) -> int:
        """The number of trials of a configuration."""
        return self.options.tuning_seeds * self.options.tuning_splits

    def search_trials(self, configuration: Configuration) -> list[TrialSpec]:
        """Return the trials of a configuration in the search; they have no test score."""
        splits = self.options.tuning_splits if self.fold is None else self.fold + 1
        return self.subject.trials(configuration, self.seeds_of_search, splits, score_test=False, fold=self.fold)

    def test_trials(self, configuration: Configuration) -> list[TrialSpec]:
        """Return the trials that test the chosen configuration."""
        splits = self.splits if self.fold is None else self.fold + 1
        return self.subject.trials(configuration, self.seeds, splits, score_test=True, fold=self.fold)

    @cached_property
    def seeds_of_search(self) -> tuple[int, ...]:
        """The seeds of every configuration in the search; none of those of the test."""
        protocol = self.subject.protocol_used
        test = protocol.first_seeds(self.seeds or len(protocol.seeds))
        return protocol.tuning_seeds(self.options.tuning_seeds, (*protocol.seeds, *test))

    @property
    def least_epochs(self) -> int:
        """The smallest number of epochs after which the trials of a configuration can have ended."""
        base, space = self.subject.base_rules, self.space
        points = islice(corners(tuple(each for each in space if each.part == "rules")), MOST_CORNERS)
        return self.trials_each * min(kind_of(base.changed(point)).least_epochs or 1 for point in points)

    @cached_property
    def leak(self) -> str:
        """Warning where validation graphs of the search are test graphs of other splits; empty where none is."""
        subject, options = self.subject, self.options
        if self.fold is not None:
            return ""
        splits, count = subject.data.splits, self.splits or subject.protocol_used.splits
        seen = np.concatenate([splits[split].val for split in range(options.tuning_splits)])
        tested = np.concatenate([splits[split].test for split in range(min(count, len(splits)))])
        shared = len(np.intersect1d(seen, tested))
        if not shared:
            return ""
        return (
            f"{shared} of the {len(np.unique(seen))} validation examples of the search are test examples of other "
            "splits, so that the choice has seen their labels: --splits 1 tests on the split of the search alone, "
            "tudataset/nested selects for each fold"
        )

    def _check_splits(self) -> None:
        options, subject = self.options, self.subject
        if (self.fold is not None) != subject.kind.is_nested or (self.fold is not None and options.tuning_splits > 1):
            raise GraphTrialError(
                f"{subject.protocol_used.name} {'selects' if subject.kind.is_nested else 'does not select'} settings "
                "for each fold by itself: its searches have one split each"
            )
        splits = options.tuning_splits if self.fold is None else self.fold + 1
        study = Study("tuning", subject.dataset, (ModelEntry(subject.model),), splits=splits)
        study.split_count(subject.protocol_used, subject.base_rules, subject.data)

    def _check_budget(self) -> None:
        budget, each = self.budget, self.trials_each
        if budget.unit == "trials" and budget.amount < each:
            raise GraphTrialError(
                f"a budget of {budget} cannot finish one configuration, which takes {each} trials: "
                f"{self.options.tuning_seeds} seeds on {self.options.tuning_splits} splits"
            )
        if budget.unit == "epochs" and budget.amount < self.least_epochs:
            raise GraphTrialError(
                f"a budget of {budget} cannot finish one configuration: its rules end training after "
                f"{self.least_epochs} epochs at the earliest"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return everything that determines the proposals and the test, as JSON-like values."""
        return {
            **({} if self.fold is None else {FOLD: self.fold}),
            **asdict(self.options),
            "subject": self.subject.to_dict(),
            "space": self.space.to_dict(),
            "space_name": self.space.name,
            "budget": str(self.budget),
            "seeds": self.seeds,
            "splits": self.splits,
        }

    @cached_property
    def id(self) -> str:
        """Hash of the declaration: the first 16 hexadecimal digits."""
        return digest(self.to_dict())[:16]


def declare_searches(
    subject: Subject, space: Space, options: TuneOptions, seeds: int | None = None, splits: int | None = None
) -> list[Tuning]:
    """Return the search for a model, or one for each of the first `splits` folds of a nested selection."""
    if not subject.kind.is_nested:
        return [Tuning(subject, space, options, seeds, splits)]
    folds = range(subject.protocol_used.splits if splits is None else splits)
    return [Tuning(subject, space, options, seeds, fold=fold) for fold in folds]
