"""What trackers are told of a trial."""

from __future__ import annotations

from typing import Any

from graphtrial.encodings import encoding_settings
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import TrialRecord


def settings(record: TrialRecord) -> dict[str, str]:
    """Return the specification as names and texts: `model.width`, `rules.optimizer.lr` and so on; defaults included."""
    found: dict[str, str] = {}

    def walk(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{name}.{key}" if name else key, inner)
        elif value is not None:
            found[name.replace("model.arguments", "model").replace("encoding.arguments", "encoding")] = str(value)

    spec = record.spec
    values = spec.to_dict()
    values["model"] |= {"arguments": spec.settings}
    if spec.encoding is not None:
        values["encoding"] |= {"arguments": encoding_settings(spec.encoding)}
    walk("", {**values, "rules": spec.rules.flat()})
    return found


def numbers(epoch: Epoch, metric: str) -> dict[str, float]:
    """Return the numbers of an epoch by the names that trackers show."""
    return {
        "train loss": epoch.train_loss,
        "val loss": epoch.val_loss,
        f"val {metric}": epoch.val_score,
        "learning rate": epoch.lr,
        "seconds": epoch.seconds,
    }


def scores(record: TrialRecord) -> dict[str, float]:
    """Return the final scores by the names that trackers show."""
    return {f"final {part} {record.metric}": score for part, score in record.scores.items()}
