"""What a look at a file found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphtrial.core.errors import GraphTrialError


@dataclass
class Verdict:
    """What a file is, what is wrong with it, and what is worth knowing."""

    file: str
    kind: str
    problems: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Nothing is wrong."""
        return not self.problems

    @contextmanager
    def noting(self, what: str = "") -> Iterator[None]:
        """Note an error made for people as a problem and go on with the next thing."""
        try:
            yield
        except GraphTrialError as error:
            problem = f"{what}: {error}" if what else str(error)
            if problem not in self.problems:
                self.problems.append(problem)
