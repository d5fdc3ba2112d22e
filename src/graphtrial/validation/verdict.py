"""Result of validating a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphtrial.core.errors import GraphTrialError


@dataclass
class Verdict:
    """Kind of a file, its problems, and facts about it."""

    file: str
    kind: str
    problems: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    @contextmanager
    def noting(self, subject: str = "") -> Iterator[None]:
        """Record a `GraphTrialError` as a problem and continue."""
        try:
            yield
        except GraphTrialError as error:
            problem = f"{subject}: {error}" if subject else str(error)
            if problem not in self.problems:
                self.problems.append(problem)
