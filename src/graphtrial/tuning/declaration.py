"""Declaration of a search: everything that determines its proposals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import digest
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.tune_options import TuneOptions
from graphtrial.trials.kinds import kind_of
from graphtrial.tuning.budget import Budget
from graphtrial.tuning.check import check_feasible, check_space, corners
from graphtrial.tuning.samplers import HALVING, Sampler, make_sampler
from graphtrial.tuning.space import Space
from graphtrial.tuning.subject import Subject

MOST_CORNERS = 256


@dataclass(frozen=True)
class Tuning:
    """A search over a space, on the validation part only, and how the chosen configuration is tested.

    `seeds` and `splits` are those of the test; all of the protocol by default. The validation scores of a configuration
    are averaged over its `tuning_seeds`, none of which is tested on, and over the first `tuning_splits`.
    """

    subject: Subject
    space: Space
    options: TuneOptions
    seeds: PositiveInt | None = None
    splits: PositiveInt | None = None

    def __post_init__(self) -> None:
        """Validate the space, the budget and the search; nothing has run yet."""
        check_fields(self, "the search")
        subject = self.subject
        space = check_space(subject.narrowed(self.space), subject.model, subject.base_rules)
        object.__setattr__(self, "space", space)
        study = Study("tuning", subject.dataset, (ModelEntry(subject.model),), splits=self.options.tuning_splits)
        study.split_count(subject.protocol_used, subject.base_rules, subject.data)
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
