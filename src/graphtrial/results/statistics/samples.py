"""Both sides of a reproduction as samples: mean, standard deviation, size and variance components of the mean."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphtrial.published import PublishedScore
from graphtrial.results.statistics.summary import ALPHA
from graphtrial.results.statistics.welch import Mean
from graphtrial.training import PROTOCOLS

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow


@dataclass(frozen=True)
class Sample:
    """A mean over `n` trials, or over `n` repetitions of `trials_each` trials.

    `std` is the sample standard deviation (divisor n - 1), none where it is unknown; `parts` are the components of the
    squared standard error with their degrees of freedom, none where it is unknown, empty where the mean is exact.
    """

    mean: float
    std: float | None
    n: int
    parts: tuple[tuple[float, float], ...] | None
    rounding: float = 0.0
    trials_each: int = 1
    notes: tuple[str, ...] = ()

    @property
    def estimate(self) -> Mean:
        """The mean with its variance components; exact where these are unknown."""
        return Mean(self.mean, self.parts or ())


def our_sample(row: ResultRow, theirs: PublishedScore) -> Sample:
    """Return the sample of test scores of a row: repetitions where the paper prints their std, else single trials.

    A single trial has no standard error, unless the trial is deterministic: then it is 0.
    """
    if by_repetition(row, theirs):
        means = complete_repetitions(row)
        std = statistics.stdev(means)
        note = f"compared by repetitions: ours ±{std:.3f} over {len(means)}"
        mean, n = statistics.fmean(means), len(means)
        return Sample(mean, std, n, ((std**2 / n, n - 1.0),), trials_each=_splits(row), notes=(note,))
    scores = row.scores("test")
    if scores is None:
        return Sample(math.nan, None, 0, None)
    if is_deterministic(row):
        return Sample(scores.mean, 0.0, scores.n, (), notes=("our score is deterministic",))
    parts = None if scores.std is None else ((scores.std**2 / scores.n, scores.n - 1.0),)
    return Sample(scores.mean, scores.std, scores.n, parts)


def published_sample(row: ResultRow, theirs: PublishedScore) -> Sample:
    """Return the sample behind a printed score, whose std is taken as the population one (divisor n, NumPy's default).

    The squared standard error has a second component: rounding is uniform within half a unit u of the last digit, of
    variance u² / 3. TUDataset prints the std over repetitions, which sets the margin, and the std over all runs, which
    gives the standard error where no repetitions of ours can be compared.
    """
    rounding = half_unit(theirs)
    rounded = (rounding**2 / 3, math.inf)
    if theirs.ci95_half_width is not None:
        from scipy.special import ndtri

        error = theirs.ci95_half_width / float(ndtri(1 - ALPHA / 2))
        n = theirs.n or 0
        std = error * math.sqrt(n) * math.sqrt(n / (n - 1)) if n > 1 else None
        dof = n - 1.0 if n > 1 else math.inf
        variance = std**2 / n if std is not None else error**2
        return Sample(theirs.mean, std, n, ((variance, dof), rounded), rounding)
    if theirs.std is None or theirs.n is None or theirs.n < 2:
        return Sample(theirs.mean, None, theirs.n or 0, None, rounding)
    notes = ("the paper prints an upper bound of its std",) if theirs.std_is_upper_bound else ()
    n = theirs.n
    if theirs.std_all_runs is not None:
        repetitions = max(2, n // _splits(row))
        std = sample_std(theirs.std, repetitions)
        if by_repetition(row, theirs):
            return Sample(
                theirs.mean,
                std,
                repetitions,
                ((std**2 / repetitions, repetitions - 1.0), rounded),
                rounding,
                notes=notes,
            )
        over_runs = sample_std(theirs.std_all_runs, n)
        return Sample(theirs.mean, std, n, ((over_runs**2 / n, n - 1.0), rounded), rounding, notes=notes)
    std = sample_std(theirs.std, n)
    return Sample(theirs.mean, std, n, ((std**2 / n, n - 1.0), rounded), rounding, notes=notes)


def sample_std(population_std: float, n: int) -> float:
    """Return the sample standard deviation (divisor n - 1) from the population one (divisor n)."""
    return population_std * math.sqrt(n / (n - 1))


def half_unit(theirs: PublishedScore) -> float:
    """Return half a unit of the last printed digit."""
    digits = theirs.text.partition("±")[0].partition(".")[2]
    return 0.5 * 10.0 ** -len(digits)


def by_repetition(row: ResultRow, theirs: PublishedScore) -> bool:
    """Whether both sides have repetitions of a complete cross-validation."""
    return theirs.std_all_runs is not None and len(complete_repetitions(row)) > 1


def complete_repetitions(row: ResultRow) -> list[float]:
    """Return the mean test score of each seed that has one on every split of the protocol."""
    of_seed: dict[int, list[float]] = {}
    for trial in row.trials:
        if "test" in trial.scores:
            of_seed.setdefault(trial.spec.seed, []).append(trial.scores["test"])
    return [sum(scores) / len(scores) for scores in of_seed.values() if len(scores) == _splits(row)]


def is_deterministic(row: ResultRow) -> bool:
    """Whether the score is deterministic: independent of the seed, with a score on every split of the protocol."""
    scored = {trial.spec.split for trial in row.trials if "test" in trial.scores}
    return row.first.spec.kind.is_deterministic and len(scored) >= _splits(row)


def _splits(row: ResultRow) -> int:
    protocol = row.first.spec.protocol.partition("@")[0]
    return PROTOCOLS.get(protocol).splits if protocol in PROTOCOLS else 1
