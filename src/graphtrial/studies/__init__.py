"""Studies: declared grids of trials."""

from graphtrial.studies.study import Row, Study
from graphtrial.studies.study_files import catalog, load_study

__all__ = ["Row", "Study", "catalog", "load_study"]
