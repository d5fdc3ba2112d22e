"""The few calls that most scripts need."""

from graphtrial.api.data import from_pyg, info, load, prepare
from graphtrial.api.results import compare, load_results
from graphtrial.api.trials import build, run, run_study
from graphtrial.api.tuning import TuningResult, tune
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.execution import Progress
from graphtrial.report.build import report

__all__ = [
    "DEFAULT_STORE",
    "Progress",
    "TuningResult",
    "build",
    "compare",
    "from_pyg",
    "info",
    "load",
    "load_results",
    "prepare",
    "report",
    "run",
    "run_study",
    "tune",
]
