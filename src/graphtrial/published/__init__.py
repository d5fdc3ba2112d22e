"""The papers' numbers as data, and which of them a trial may be compared with.

Four papers: `bgnn-v5` and `bgnn-v1` (Dwivedi et al., Benchmarking Graph Neural Networks, arXiv:2003.00982, last and
first version), `wikics` (Mernyei and Cangea 2020, arXiv:2007.02901), `tudataset` (Morris et al. 2020,
arXiv:2007.08663). Values have the units of the paper: accuracies and hits in percent, F1, AUC and AP as fractions.
"""

from graphtrial.published.configs import configuration, configurations
from graphtrial.published.results import PublishedRow, Score, find, rows
from graphtrial.published.tables import table
from graphtrial.published.tudataset import find_tudataset
from graphtrial.published.wikics import find_wikics

__all__ = [
    "PublishedRow",
    "Score",
    "configuration",
    "configurations",
    "find",
    "find_tudataset",
    "find_wikics",
    "rows",
    "table",
]
