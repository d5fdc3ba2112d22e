"""Result rows and trials as pandas.DataFrame; pandas is optional."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from graphtrial.core.errors import GraphTrialError, missing_extra
from graphtrial.results.columns.rows import ROW_COLUMNS
from graphtrial.results.columns.trials import TRIAL_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

    from graphtrial.results.rows import ResultRow

By = Literal["row", "trial"]


def to_pandas(rows: Iterable[ResultRow], by: By = "row") -> pd.DataFrame:
    """Return a DataFrame with one line per row, or per trial of the rows, and the columns of the CSV.

    Missing values are NaN in numeric columns, None elsewhere; `frame.attrs` has the meaning of each column.
    """
    try:
        import pandas as pd
    except ImportError:
        raise missing_extra("to_pandas()", "pandas", "pandas") from None
    if by == "row":
        names = ROW_COLUMNS.flat_names()
        lines = [ROW_COLUMNS.scalars(row) for row in rows]
        columns = {name: column.description for column in ROW_COLUMNS.shown("csv") for name in column.flat_names}
    elif by == "trial":
        names = TRIAL_COLUMNS.flat_names()
        lines = [TRIAL_COLUMNS.scalars(trial) for row in rows for trial in row.trials]
        columns = {name: column.description for column in TRIAL_COLUMNS.shown("csv") for name in column.flat_names}
    else:
        raise GraphTrialError(f"to_pandas(by='{by}'): use 'row' or 'trial'")
    frame: pd.DataFrame = pd.DataFrame(lines, columns=names)
    frame.attrs["meaning"] = columns
    return frame
