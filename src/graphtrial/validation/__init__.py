"""Validate studies and plug-ins without training: report all problems at once."""

from __future__ import annotations

from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.validation.plugin_file import check_plugin
from graphtrial.validation.study_file import check_study
from graphtrial.validation.verdict import Verdict


def validate(file: str) -> Verdict:
    """Validate a study (a TOML file, or a name of the catalog) or a plug-in (a Python file, which is executed)."""
    from graphtrial.studies import catalog

    path = Path(file)
    if path.suffix == ".py":
        return check_plugin(path)
    if path.suffix == ".toml" or file in catalog():
        return check_study(file)
    raise GraphTrialError(f"{file} is neither a study (.toml) nor a plug-in (.py)")


__all__ = ["Verdict", "validate"]
