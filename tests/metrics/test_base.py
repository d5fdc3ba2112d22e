"""Building metrics by name, and their ranges by title."""

from __future__ import annotations

import math

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.metrics import make_metric, metric_range


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("maee", "no metric called 'maee'. Did you mean 'mae'"),
        ("hits@", "an integer follows the @"),
        ("hits@x", "an integer follows the @"),
        ("hits@0", "k of Hits must be an integer"),
        ("mae@3", "'mae' takes no number"),
    ],
)
def test_unknown_metric_gives_one_line_error(text: str, message: str) -> None:
    with pytest.raises(GraphTrialError, match=message) as error:
        make_metric(text)
    assert "\n" not in str(error.value)


def test_ranges_are_found_by_title() -> None:
    assert metric_range("MAE") == (0.0, math.inf)
    assert metric_range("Hits@20") == metric_range("weighted accuracy") == metric_range("accuracy") == (0.0, 100.0)
    assert metric_range("F1") == metric_range("ROC-AUC") == metric_range("AP") == (0.0, 1.0)
    assert metric_range("log10 MSE") == metric_range("log MAE") == metric_range("of another") == (-math.inf, math.inf)
