"""Timeout of a trial that reports nothing: its process hangs and is killed."""

from __future__ import annotations

from graphtrial.trials.trial import TrialSpec

GRACE_SECONDS = 600.0
"""Time for data, encodings and the final scores beside the epochs."""


def timeout_seconds(trial: TrialSpec, grace_seconds: float = GRACE_SECONDS) -> float:
    """Return how long a trial may report no epoch: the time limit of its rules plus grace."""
    return 3600 * trial.kind.max_hours + grace_seconds


def timeout_error(seconds: float) -> str:
    """Return the error message of a trial that was killed after this time without an epoch."""
    return (
        f"it was ended because it hung: no epoch ended for {seconds:.0f} s, which is beyond the time limit of its rules"
    )
