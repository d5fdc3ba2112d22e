"""Studies: declared grids of trials."""

from graphtrial.studies.study import ModelEntry, Study
from graphtrial.studies.study_files import catalog, load_study

__all__ = ["ModelEntry", "Study", "catalog", "load_study"]
