"""Rows as pandas.DataFrame."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError, MissingDependencyError
from graphtrial.results import result_rows
from graphtrial.results.export import export
from graphtrial.trials import Store

Filler = Callable[..., Any]


def test_frame_matches_the_csv_in_full_precision(results: Store, fill: Filler) -> None:
    pd = pytest.importorskip("pandas")
    fill("gcn", [70.0, 71.0, 71.5])
    fill("gin", [1 / 3])
    rows = result_rows(results.trials())
    frame = rows.to_pandas()
    assert frame["label"].tolist() == ["gcn", "gin"]
    assert frame["test_mean"].tolist() == [pytest.approx(212.5 / 3), 1 / 3]
    assert frame["test_std"].isna().tolist() == [False, True]
    read = pd.read_csv(io.StringIO(export(rows, "csv")), keep_default_na=False, na_values=[""])
    assert list(read.columns) == list(frame.columns)
    assert read["test_ci_low"].tolist()[0] == frame["test_ci_low"].tolist()[0]
    assert frame.attrs["meaning"]["epoch_seconds"].endswith("(s)")


def test_frame_by_trial_has_one_line_per_trial(results: Store, fill: Filler) -> None:
    pytest.importorskip("pandas")
    fill("gcn", [70.0, 71.0, 71.5])
    (row,) = result_rows(results.trials())
    assert len(row.to_pandas()) == 1
    frame = row.to_pandas(by="trial")
    assert sorted(frame["test"]) == [70.0, 71.0, 71.5]
    assert set(frame["id"]) == {trial.id for trial in row.trials}
    with pytest.raises(GraphTrialError, match="'row' or 'trial'"):
        row.to_pandas(by="epoch")  # type: ignore[arg-type]


def test_without_pandas_the_error_names_the_extra(
    results: Store, fill: Filler, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill("gcn", [70.0])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r"graphtrial\[pandas\]"):
        result_rows(results.trials()).to_pandas()
