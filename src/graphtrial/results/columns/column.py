"""Declaration of a column: name, heading, meaning, value, formatter, alignment, unit, and the outputs that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Generic, Literal, TypeVar

Record = TypeVar("Record")
Scalar = str | float | bool | None
Output = Literal["terminal", "markdown", "latex", "site", "csv", "json"]
"""`csv` includes the DataFrame; `latex` is the default selection of at most eight columns, of those of `markdown`."""
TABLES: frozenset[Output] = frozenset({"terminal", "markdown", "site"})
DATA: frozenset[Output] = frozenset({"csv", "json"})
EVERYWHERE = TABLES | DATA
LATEX: frozenset[Output] = frozenset({"latex"})
JSON: frozenset[Output] = frozenset({"json"})
CSV: frozenset[Output] = frozenset({"csv"})
SITE: frozenset[Output] = frozenset({"site"})
TERMINAL: frozenset[Output] = frozenset({"terminal"})
MARKDOWN: frozenset[Output] = frozenset({"markdown"})
NOWHERE: frozenset[Output] = frozenset()


@dataclass(frozen=True)
class Column(Generic[Record]):
    """One column of every table about a kind of record.

    Args:
        name: Key in JSON; name, or prefix of the names, in CSV and in a DataFrame.
        heading: Column heading of tables for people.
        meaning: One phrase: tooltip of the site, documentation.
        value: Function of the record: a number, a text, or a dataclass, mapping or sequence, which JSON nests.
        format: Formatter of the value for people.
        text: Text for people as a function of the record, where the value alone does not determine it.
        flat: Scalars in CSV and in a DataFrame by suffix of the name, the empty suffix for the name itself; by default
            the value.
        align: Numbers to the right, words to the left; the terminal folds words only.
        unit: Unit of the value.
        missing: Text of a missing value.
        rigid: Never folded in the terminal, as ids, which are copied.
        priority: A narrow terminal hides the column of the highest priority first; 0 is never hidden.
        outputs: Outputs that show the column by default.
        optional: Left out of a table for people in which no record has a value.
    """

    name: str
    heading: str
    meaning: str
    value: Callable[[Record], Any]
    format: Callable[[Any], str] = str
    text: Callable[[Record], str] | None = None
    flat: Mapping[str, Callable[[Record], Scalar]] | None = None
    align: Literal["left", "right"] = "right"
    unit: str = ""
    missing: str = "-"
    rigid: bool = False
    priority: int = 0
    outputs: frozenset[Output] = EVERYWHERE
    optional: bool = False

    @property
    def description(self) -> str:
        """The meaning with its unit."""
        return f"{self.meaning} ({self.unit})" if self.unit else self.meaning

    def cell(self, record: Record) -> str:
        """Return the text for people."""
        if self.text is not None:
            return self.text(record) or self.missing
        value = self.value(record)
        return self.missing if value is None else self.format(value)

    def json(self, record: Record) -> Any:
        """Return the value as JSON-like data."""
        return _json_like(self.value(record))

    @property
    def flat_names(self) -> list[str]:
        """Names of the scalars in CSV and in a DataFrame."""
        return [f"{self.name}_{suffix}" if suffix else self.name for suffix in self.flat or ("",)]

    def scalars(self, record: Record) -> list[Scalar]:
        """Return the scalars in the order of `flat_names`."""
        functions = [self.value] if self.flat is None else self.flat.values()
        return [function(record) for function in functions]


class ColumnTable(Generic[Record]):
    """Ordered columns of one kind of record, unique by name; each output takes its columns from here."""

    def __init__(self, columns: Iterable[Column[Record]]) -> None:
        self._columns: dict[str, Column[Record]] = {}
        for column in columns:
            self.add(column)

    def add(self, column: Column[Record]) -> None:
        """Register a column behind the others."""
        if column.name in self._columns:
            raise ValueError(f"there is a column called '{column.name}' already")
        self._columns[column.name] = column

    def remove(self, name: str) -> None:
        """Unregister a column."""
        del self._columns[name]

    def __iter__(self) -> Iterator[Column[Record]]:
        return iter(self._columns.values())

    def __getitem__(self, name: str) -> Column[Record]:
        return self._columns[name]

    def shown(self, output: Output, records: Sequence[Record] | None = None) -> list[Column[Record]]:
        """Return the columns that an output shows by default, for these records without the optional ones they lack."""
        return [
            column
            for column in self
            if output in column.outputs
            and (records is None or not column.optional or any(column.value(one) is not None for one in records))
        ]

    def to_dict(self, record: Record) -> dict[str, Any]:
        """Return a record as JSON-like data, nested."""
        return {column.name: column.json(record) for column in self.shown("json")}

    def flat_names(self) -> list[str]:
        """Return the column names of CSV and DataFrame."""
        return [name for column in self.shown("csv") for name in column.flat_names]

    def scalars(self, record: Record) -> list[Scalar]:
        """Return a record as scalars in the order of `flat_names`."""
        return [value for column in self.shown("csv") for value in column.scalars(record)]


def _json_like(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {key: _json_like(inner) for key, inner in value.items()}
    return [_json_like(inner) for inner in value] if isinstance(value, tuple | list) else value
