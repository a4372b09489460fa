"""Rows of a logged table, read from its file as they are wanted.

    {"columns": ["id", "text"], "data": [[1, "a"], [2, "b"], …], …}

The file is read piece by piece, so that the first rows of a large table cost no more than those of a small one.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

CELL = 400
"""Characters that are kept of a cell."""
MOST_ROWS = 20_000
"""Rows that are kept."""
_PIECE = 64 * 1024
_LARGEST = 16 * 1024 * 1024
"""Characters of a single value that is waited for."""
_BLANK = " \t\r\n"


class BadTable(Exception):  # noqa: N818 — named for what the file is
    """The file holds no table; the message is one line for people."""


class TableFile:
    """The table in a file. `columns` and `rows` are what has been read so far; cells are text, as logged."""

    def __init__(self, path: Path) -> None:
        """Raises OSError where the file cannot be opened."""
        self.columns: tuple[str, ...] = ()
        self.rows: list[tuple[str, ...]] = []
        self.finished = False
        """All rows are here, or as many as are kept."""
        self._file = open(path, "rb")  # noqa: SIM115 — closed when all has been read, or by `close`
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text = ""
        self._at = 0
        self._members = self._read()

    def read(self, rows: int) -> None:
        """Have at least so many rows, or all that there are. Raises BadTable and OSError."""
        if self.finished:
            return
        try:
            for row in self._members:
                self.rows.append(row)
                if len(self.rows) >= min(rows, MOST_ROWS):
                    break
            else:
                self.close()
            if len(self.rows) >= MOST_ROWS:
                self.close()
        except (OSError, BadTable):
            self.close()
            raise

    @property
    def cut_short(self) -> bool:
        """There are more rows than are kept."""
        return self.finished and len(self.rows) >= MOST_ROWS

    def close(self) -> None:
        self.finished = True
        self._file.close()

    def __enter__(self) -> TableFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The file: an object, of whose members `columns` is kept, and `data` is gone through one row after the other

    def _read(self) -> Iterator[tuple[str, ...]]:
        self._expect("{")
        if self._sign() == "}":
            return
        while True:
            name = self._value()
            self._expect(":")
            if name == "data" and self._sign() == "[":
                yield from self._rows()
            else:
                value = self._value()
                if name == "columns" and isinstance(value, list):
                    self.columns = tuple(cell_text(column) for column in value)
            if not self._goes_on("}"):
                return

    def _rows(self) -> Iterator[tuple[str, ...]]:
        self._expect("[")
        if self._sign() == "]":
            self._at += 1
            return
        while True:
            row = self._value()
            yield tuple(map(cell_text, row)) if isinstance(row, list) else (cell_text(row),)
            if not self._goes_on("]"):
                return

    def _goes_on(self, end: str) -> bool:
        sign = self._sign()
        if sign not in (",", end):
            raise BadTable("the file holds no table: it is damaged")
        self._at += 1
        return sign == ","

    def _expect(self, wanted: str) -> None:
        if self._sign() != wanted:
            raise BadTable("the file holds no table")
        self._at += 1

    def _sign(self) -> str:
        """The next character that is no blank."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                raise BadTable("the file holds no table: it ends too early")

    def _value(self) -> Any:
        """The next JSON value."""
        self._sign()
        decoder = json.JSONDecoder()
        wanted = 0
        while True:
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise BadTable("the file holds no table: it is nested too deep") from error
            except ValueError as error:
                value, end = None, len(self._text)
                if self._ended:
                    raise BadTable("the file holds no table: it is damaged") from error
            # A number at the very end of what has been read may go on.
            if end < len(self._text) or self._ended:
                self._at = end
                return value
            # Twice as much each time: a long value is not looked at over and over.
            wanted = max(_PIECE, 2 * wanted)
            if len(self._text) - self._at > _LARGEST:
                raise BadTable("a row of the table is too long")
            self._more(wanted)

    _ended = False

    def _more(self, wanted: int = _PIECE) -> bool:
        data = self._file.read(wanted)
        self._ended = not data
        self._text = self._text[self._at :] + self._decode(data, self._ended)
        self._at = 0
        return bool(data)


def cell_text(value: Any) -> str:
    """A cell as text: plain for text and numbers, the path of a picture, JSON for the rest."""
    if isinstance(value, str):
        text = value
    elif value is None:
        text = ""
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        text = str(int(value))
    elif isinstance(value, dict) and isinstance(value.get("path"), str):
        text = os.path.basename(value["path"])
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= CELL else text[: CELL - 1] + "…"
