"""The report: a static site that opens from disk, without any network access.

`graphtrial.report()` writes it: the package is callable, because importing it hides a function of that name.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from graphtrial.report.build import report, write_report, write_site
from graphtrial.report.site import Prepared

__all__ = ["Prepared", "report", "write_report", "write_site"]


class _CallableModule(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Path:
        return report(*arguments, **options)


_CallableModule.__call__.__doc__ = report.__doc__
sys.modules[__name__].__class__ = _CallableModule
