"""The mailbox between the trials of a cluster and their driver."""

from __future__ import annotations

from typing import Any


class Mailbox:
    """Queue of updates between workers and driver; only the newest checkpoint of each trial is stored.

    Updates are plain values, and Ray receives this class by value: the process of the mailbox imports neither
    graphtrial nor torch, which would take it two seconds of the start of every run.
    """

    def __init__(self) -> None:
        self._updates: list[dict[str, Any]] = []

    def put(self, update: dict[str, Any]) -> None:
        """Append an update."""
        if update["state"] is not None:
            for earlier in self._updates:
                if earlier["trial"] == update["trial"]:
                    earlier["state"] = None
        self._updates.append(update)

    def take(self) -> list[dict[str, Any]]:
        """Return and remove all updates, oldest first."""
        taken, self._updates = self._updates, []
        return taken
