"""Timeout of a trial that reports nothing: its process hangs and is killed."""

from __future__ import annotations

from graphtrial.trials.trial import TrialSpec

GRACE_SECONDS = 600.0
"""Time for data, encodings and the final scores beside the epochs."""


def timeout_seconds(trial: TrialSpec, grace_seconds: float = GRACE_SECONDS) -> float:
    """Return the timeout of a trial without a new epoch: the time limit of its rules plus grace."""
    return 3600 * trial.kind.max_hours + grace_seconds


def timeout_error(seconds: float) -> str:
    """Return the error message of a trial killed after this time without an epoch."""
    return f"killed by the watchdog: no epoch was reported for {seconds:.0f} s, more than the time limit of its rules"
