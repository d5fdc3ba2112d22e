"""How long a trial may be silent before it counts as hanging."""

from __future__ import annotations

from graphtrial.trials.trial import TrialSpec

GRACE_SECONDS = 600.0
"""What data, encodings and the final scores may take beside the epochs."""


def patience_seconds(trial: TrialSpec, grace_seconds: float = GRACE_SECONDS) -> float:
    """Return how long no epoch of a trial need end: the time limit of its rules, and some grace."""
    return 3600 * trial.kind.max_hours + grace_seconds


def silence(seconds: float) -> str:
    """Return the reason that the store keeps of a trial that was ended because it hung."""
    return (
        f"it was ended because it hung: no epoch ended for {seconds:.0f} s, which is beyond the time limit of its rules"
    )
