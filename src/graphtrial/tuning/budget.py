"""Tuning budgets: a number of trials, of epochs, or of hours of training."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from graphtrial.core.errors import GraphTrialError

Unit = Literal["trials", "epochs", "hours"]
UNITS: dict[str, Unit] = {
    **{"trial": "trials", "trials": "trials", "epoch": "epochs", "epochs": "epochs"},
    **{"h": "hours", "hour": "hours", "hours": "hours"},
}

PARAMETERS = re.compile(r"\d{1,15}(\.\d{1,15})?[kKmM]?")


@dataclass(frozen=True)
class Budget:
    """What a search may spend: `60trials`, `3000epochs` or `4h`, hours of training summed over its trials."""

    amount: float
    unit: Unit

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Parse a budget such as `60trials`, `3000epochs` or `1.5h`."""
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]{1,9})", text.strip())
        unit = UNITS.get(match[2]) if match else None
        amount = float(match[1]) if match else 0.0
        if unit is None or amount <= 0 or (unit != "hours" and not amount.is_integer()):
            hint = f"; --params {text.strip()} is the parameter budget" if PARAMETERS.fullmatch(text.strip()) else ""
            raise GraphTrialError(f"'{text}' is no tuning budget: write for example 60trials, 3000epochs or 4h{hint}")
        return cls(amount, unit)

    def __str__(self) -> str:
        return f"{self.amount:g}{'h' if self.unit == 'hours' else self.unit}"

    def is_spent(self, epochs: int, seconds: float) -> bool:
        """Whether these epochs or seconds of training use up a budget of epochs or hours."""
        return self.amount <= (epochs if self.unit == "epochs" else seconds / 3600)
