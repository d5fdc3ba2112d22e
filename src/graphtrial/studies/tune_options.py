"""Options of the searches of a study: one space and one budget for all its models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from graphtrial.core.arguments import PositiveInt, Range, Seed
from graphtrial.core.signatures import check_fields


@dataclass(frozen=True)
class TuneOptions:
    """How every model of a study is tuned: the same budget for each.

    budget: such as `60trials`, `3000epochs` or `4h`.
    space: a shipped space by name, a TOML file, or `default` for that of the model's family.
    search: random, tpe, grid or halving.
    seed: of the proposals.
    tuning_seeds, tuning_splits: seeds and splits of every configuration in the search.
    lag: proposal k depends on the results 0 to k - lag, so that `lag` configurations may run at once.
    eta: successive halving promotes one in `eta` configurations.
    """

    budget: str
    space: str = "default"
    search: str = "random"
    seed: Seed = 0
    tuning_seeds: PositiveInt = 1
    tuning_splits: PositiveInt = 1
    lag: Annotated[int, Range(1, 4096)] = 4
    eta: Annotated[int, Range(2, 100)] = 3

    def __post_init__(self) -> None:
        check_fields(self, "the search")
