"""Tables: rows of cells under named columns, with media among them."""

from __future__ import annotations

import datetime
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from recorder import notices
from recorder.errors import Error
from recorder.media import column_types
from recorder.media.content import Content
from recorder.media.json_file import json_content, plain
from recorder.media.media import Bundle, Files, Json, Media

_MODES = ("IMMUTABLE", "MUTABLE", "INCREMENTAL")
_EMBEDDING = 150
"""A vector of up to so many numbers is written as a list, not as an array."""


class Table(Media):
    """A table of a row.

    Args:
        columns: names of the columns; `Input`, `Output` and `Expected` without them.
        data: rows, an array [rows, columns], or a data frame.
        rows: an old name of `data`.
        dataframe: a data frame of pandas, or of polars; its columns are those of the table.
        dtype: the type of all columns, or a list with one for each; see `column_types.from_dtype`.
        optional: whether cells may be None, for all columns or for each.
        allow_mixed_types: whether cells of one column may be of any types.
        log_mode: `IMMUTABLE`: logged again, it refers to what was logged first. `MUTABLE`: logged again after a
            change, it is recorded anew, and so is an `INCREMENTAL` one, whole.

    Raises:
        TypeError: a cell of another type than the column has.
        ValueError: a row that does not fit the columns.
    """

    TYPE = "table"
    DIRECTORY = "media/table"
    BATCH = False
    MAX_ROWS: ClassVar[int] = 10_000
    MAX_ARTIFACT_ROWS: ClassVar[int] = 200_000

    def __init__(
        self,
        columns: Sequence[str | int] | None = None,
        data: Any = None,
        rows: Any = None,
        dataframe: Any = None,
        dtype: Any = None,
        optional: bool | Sequence[bool] = True,
        allow_mixed_types: bool = False,
        log_mode: str = "IMMUTABLE",
    ) -> None:
        super().__init__(Content(b"", extension=".table.json"))
        if log_mode not in _MODES:
            raise ValueError(f"log_mode is one of {', '.join(_MODES)}, not {log_mode!r}")
        if log_mode == "INCREMENTAL":
            notices.warn_once("an incremental table is recorded whole each time that it is logged")
        self.log_mode = log_mode
        self._objects: list[tuple[Files, Json]] = []
        """The run that it was logged to and the object for its row; empty before."""
        if dataframe is None and _is_frame(data):
            dataframe = data
        if dataframe is not None:
            columns, data = _of_frame(dataframe)
        elif data is None:
            data = rows if rows is not None else ()
        self.columns: list[str | int] = list(columns if columns is not None else ("Input", "Output", "Expected"))
        if not all(type(name) in (str, int) for name in self.columns):
            raise ValueError("the names of columns are text or integers")
        self.data: list[list[Any]] = []
        self._types: dict[str | int, column_types.Type] = {}
        kinds = self._each(column_types.ANY if allow_mixed_types else dtype if dtype is not None else ())
        for name, kind, may_be_none in zip(self.columns, kinds, self._each(optional), strict=True):
            self.cast(name, kind if kind != () else column_types.UNKNOWN, bool(may_be_none))
        for row in data:
            self.add_data(*row)

    def add_data(self, *data: Any) -> None:
        """Adds a row. Raises ValueError for another number of cells, TypeError for a cell of another type."""
        self._changes()
        if len(data) != len(self.columns):
            raise ValueError(f"the table has the {len(self.columns)} columns {self.columns}, the row {len(data)} cells")
        taken: dict[str | int, column_types.Type] = {}
        for name, cell in zip(self.columns, data, strict=True):
            taken[name] = self._taking(name, self._types[name], cell)
        self._types.update(taken)
        self.data.append(list(data))

    add_row = add_data

    def add_column(self, name: str, data: Any, optional: bool = False) -> None:
        """Adds a column of as many cells as there are rows; to an empty table, of any number.

        Raises ValueError for another number of cells or a name that is taken, TypeError for cells that do not fit.
        """
        self._changes()
        if name in self.columns:
            raise ValueError(f"there is a column {name!r} already")
        cells = list(data)
        if self.columns and len(cells) != len(self.data):
            raise ValueError(f"the table has {len(self.data)} rows, the column {len(cells)} cells")
        kind = column_types.optional(column_types.UNKNOWN) if optional else column_types.UNKNOWN
        for cell in cells:
            kind = self._taking(name, kind, cell)
        if not self.columns:
            self.data = [[] for _ in cells]
        for row, cell in zip(self.data, cells, strict=True):
            row.append(cell)
        self.columns.append(name)
        self._types[name] = kind

    def add_computed_columns(self, fn: Callable[[int, dict[str | int, Any]], Mapping[str, Any]]) -> None:
        """Adds the columns that a function of row number and row gives."""
        found: dict[str, list[Any]] = {}
        for number, row in self.iterrows():
            for name, cell in fn(number, dict(zip(self.columns, row, strict=True))).items():
                found.setdefault(name, []).append(cell)
        for name, cells in found.items():
            self.add_column(name, cells)

    def get_column(self, name: str | int, convert_to: str | None = None) -> Any:
        """The cells of a column; an array with `convert_to="numpy"`."""
        at = self.columns.index(name)
        cells = [row[at] for row in self.data]
        return _numpy("a column as an array").array(cells) if convert_to == "numpy" else cells

    def get_index(self) -> list[int]:
        """The numbers of the rows."""
        return list(range(len(self.data)))

    def get_dataframe(self) -> Any:
        """A data frame of pandas. Raises Error where that is not installed."""
        try:
            import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise Error("a data frame needs the package pandas: pip install pandas") from None
        return pandas.DataFrame.from_records(self.data, columns=self.columns)

    def iterrows(self) -> Iterator[tuple[int, list[Any]]]:
        """The rows with their numbers."""
        return enumerate(self.data)

    def cast(self, col_name: str | int, dtype: Any, optional: bool = False) -> None:
        """Gives a column a type. Raises TypeError where a cell is of another one."""
        self._changes()
        kind = column_types.from_dtype(dtype)
        if optional:
            kind = column_types.optional(kind)
        for cell in self.get_column(col_name):
            kind = self._taking(col_name, kind, cell)
        self._types[col_name] = kind

    def keep(self, files: Files, key: str, step: int | str, *, again: bool = False) -> Json:
        """Writes the table into the run, and an artifact with it and the media in its cells beside it."""
        if self._objects and self._objects[0][0] is files:
            return {**self._objects[0][1], "nrows": len(self.data), "ncols": len(self.columns)}
        cells = [[_text_cell(cell) for cell in row] for row in self.data[: self.MAX_ROWS]]
        self.content = json_content({"columns": self.columns, "data": cells}, ".table.json")
        self._kept = None
        address = files.table(self, key)
        found = {
            **super().keep(files, key, step),
            **address,
            "_type": "table-file",
            "ncols": len(self.columns),
            "nrows": len(self.data),
            "log_mode": "MUTABLE" if self.log_mode == "INCREMENTAL" else self.log_mode,
        }
        self._objects = [(files, found)]
        return found

    def hold(self, bundle: Bundle) -> Json:
        """The table as it stands in an artifact: its cells, their types, and the media in them."""
        rows = self.data[: self.MAX_ARTIFACT_ROWS]
        if len(rows) < len(self.data):
            notices.warn_once(f"a table has more than {self.MAX_ARTIFACT_ROWS} rows: the first ones are recorded")
        types, apart = self._array_columns(bundle)
        cells = [[None if at in apart else held_cell(cell, bundle) for at, cell in enumerate(row)] for row in rows]
        return {
            "_type": "table",
            "columns": self.columns,
            "data": cells,
            "ncols": len(self.columns),
            "nrows": len(cells),
            "column_types": column_types.Type("typedDict", fields=types).to_json(),
            "log_mode": self.log_mode,
        }

    def _array_columns(self, bundle: Bundle) -> tuple[dict[str | int, column_types.Type], set[int]]:
        """The types to be written, and the columns of arrays of several axes, which get a file of their own."""
        types, apart = dict(self._types), set()
        for at, name in enumerate(self.columns):
            members = types[name].params.get("members", [types[name]])
            kind = next((member for member in members if member.name == "ndarray"), None)
            if kind is None:
                continue
            shape = kind.params["shape"]
            if len(shape) == 1 and shape[0] <= _EMBEDDING:
                types[name] = column_types.Type("list", element=column_types.NUMBER, length=shape[0])
                continue
            out = io.BytesIO()
            _numpy("a column of arrays").savez_compressed(out, **{str(name): self.get_column(name, "numpy")})
            path = bundle.hold(Content(out.getvalue(), extension=".npz"), "media/serialized_data")
            place = {"path": path, "key": str(name)}
            filed = column_types.Type("ndarray", shape=shape, serialization_path=place)
            types[name] = (
                column_types.union([filed if member is kind else member for member in members])
                if types[name].name == "union"
                else filed
            )
            apart.add(at)
        return types, apart

    def _taking(self, name: str | int, kind: column_types.Type, cell: Any) -> column_types.Type:
        found = column_types.taking(kind, cell)
        if found is None:
            shown = column_types.type_of(cell)
            raise TypeError(f"column {name!r} holds {kind}, and this cell is {shown}; allow_mixed_types=True takes any")
        return found

    def _each(self, value: Any) -> list[Any]:
        return list(value) if isinstance(value, list) else [value] * len(self.columns)

    def _changes(self) -> None:
        """The table is about to change: a mutable one is recorded anew when it is logged again."""
        if self._objects and self.log_mode == "IMMUTABLE":
            notices.warn_once(
                "a table is changed after it was logged: logging it again refers to what was logged; "
                'log_mode="MUTABLE" records it anew'
            )
        elif self._objects:
            self._objects = []


def held_cell(cell: Any, bundle: Bundle) -> Any:
    """A cell of a table as it stands in an artifact: media as objects, times as milliseconds."""
    if isinstance(cell, float):
        return None if cell != cell else float(cell)
    if cell is None or isinstance(cell, bool | int | str):
        return plain(cell)
    if isinstance(cell, Media):
        return cell.hold(bundle)
    if isinstance(cell, dict):
        return {str(key): held_cell(item, bundle) for key, item in cell.items()}
    if str(getattr(cell, "dtype", "")).startswith("datetime64") and getattr(cell, "shape", None) == ():
        return int(cell.astype("datetime64[ms]").astype("int64"))
    if hasattr(cell, "tolist"):
        return held_cell(cell.detach().cpu().tolist() if hasattr(cell, "detach") else cell.tolist(), bundle)
    if isinstance(cell, datetime.datetime):
        return int((cell if cell.tzinfo is not None else cell.replace(tzinfo=datetime.UTC)).timestamp() * 1000)
    if isinstance(cell, datetime.date):
        return int(datetime.datetime(cell.year, cell.month, cell.day, tzinfo=datetime.UTC).timestamp() * 1000)
    if isinstance(cell, list | tuple):
        return [held_cell(item, bundle) for item in cell]
    if type(cell).__name__ == "Decimal":
        return float(cell)
    return plain(cell)


def _text_cell(cell: Any) -> Any:
    """A cell in the file of the run, where media are named only by what they are."""
    if isinstance(cell, Media):
        return type(cell).__name__
    if isinstance(cell, dict):
        return {str(key): _text_cell(item) for key, item in cell.items()}
    if isinstance(cell, list | tuple):
        return [_text_cell(item) for item in cell]
    return cell


def _is_frame(value: Any) -> bool:
    return type(value).__name__ == "DataFrame" and hasattr(value, "columns")


def _of_frame(frame: Any) -> tuple[list[str | int], Iterable[Sequence[Any]]]:
    """Columns and rows of a data frame."""
    if not _is_frame(frame):
        raise ValueError(f"a data frame is needed, not {type(frame).__qualname__}")
    columns = list(frame.columns)
    if hasattr(frame, "iter_rows"):  # polars
        return columns, frame.iter_rows()
    return columns, zip(*(frame[name].values for name in columns), strict=True)


def _numpy(purpose: str) -> Any:
    """The numpy that made the arrays. Raises Error where there is none."""
    module = sys.modules.get("numpy")
    if module is None:
        raise Error(f"{purpose} needs numpy, which is not imported")
    return module
