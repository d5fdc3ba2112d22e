"""Parameters and metrics of a trial for trackers."""

from __future__ import annotations

from typing import Any

from graphtrial.encodings import encoding_settings
from graphtrial.encodings.notation import parts_of
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import TrialRecord


def settings(record: TrialRecord) -> dict[str, str]:
    """Return the specification as flat parameters: `model.width`, `rules.optimizer.lr` and so on; defaults included."""
    params: dict[str, str] = {}

    def walk(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{name}.{key}" if name else key, inner)
        elif value is not None:
            params[name.replace("model.arguments", "model").replace("encoding.arguments", "encoding")] = str(value)

    spec = record.spec
    values = spec.to_dict()
    values["model"] |= {"arguments": spec.settings}
    parts = [part for part, _ in parts_of(spec.encoding)]
    if parts:
        by_name = {part.name: encoding_settings(part) for part in parts}
        values["encoding"] |= {"arguments": by_name if len(parts) > 1 else by_name[parts[0].name]}
    walk("", {**values, "rules": spec.rules.flat()})
    return params


def numbers(epoch: Epoch, metric: str) -> dict[str, float]:
    """Return the metrics of an epoch by name."""
    return {
        "train loss": epoch.train_loss,
        "val loss": epoch.val_loss,
        f"val {metric}": epoch.val_score,
        "learning rate": epoch.lr,
        "seconds": epoch.seconds,
    }


def scores(record: TrialRecord) -> dict[str, float]:
    """Return the final scores by name."""
    return {f"final {part} {record.metric}": score for part, score in record.scores.items()}
