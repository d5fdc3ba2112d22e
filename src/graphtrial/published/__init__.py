"""Published results and released configurations in our names, and the lookup of the one a trial compares with.

Papers: `bgnn-v5` and `bgnn-v1` (Dwivedi et al., Benchmarking Graph Neural Networks, arXiv:2003.00982, last and first
version), `wikics` (Mernyei and Cangea 2020, arXiv:2007.02901), `tudataset` (Morris et al. 2020, arXiv:2007.08663).
Values have the units of the paper: accuracies and hits in percent, F1, AUC and AP as fractions. The data files are
written by `python -m tools.normalize_published` from the transcribed tables.
"""

from graphtrial.published.configurations import Configuration, configurations, released_configuration
from graphtrial.published.lookup import find_in_table, find_published
from graphtrial.published.papers import PAPERS
from graphtrial.published.printed_results import PublishedResult, PublishedScore, published_results

__all__ = [
    "PAPERS",
    "Configuration",
    "PublishedResult",
    "PublishedScore",
    "configurations",
    "find_in_table",
    "find_published",
    "published_results",
    "released_configuration",
]
