"""Rows of a table → CSV, JSON Lines or Parquet."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, BinaryIO, Protocol

import numpy as np
import orjson

from leet.model.json_text import dump
from leet.output.export_rows import RowBlock, Table
from leet.output.export_values import Value, spell

FORMATS = ("csv", "jsonl", "parquet")

_TOGETHER = 4096
"""Values that are spelt in one call."""
_CELLS = 1 << 18
"""Cells of a CSV table that are in memory at a time."""
_PLAIN = 1e-4, 1e16
"""The absolute values between which Python writes a float without an exponent, as the fast speller always does."""
_NEEDS_QUOTES = re.compile(r'[",\r\n]')


class MissingLibrary(Exception):  # noqa: N818 - what the person has to do something about
    """A format needs a library that is not installed; the text says how to get it."""


class Format(Protocol):
    """Writes a table to a file."""

    def write(self, table: Table, columns: Mapping[str, int], out: BinaryIO) -> None:
        """Write the rows of the table with the given columns (name → place, ascending)."""


def format_named(name: str) -> Format:
    """The format of that name. Raises MissingLibrary."""
    if name == "parquet":
        return Parquet()
    return Csv() if name == "csv" else JsonLines()


class Csv:
    """A header, then a line for each row; an empty cell where a row has no value, or null.

    Texts are quoted where they hold a comma, a quote or a line end, and where they are empty, so that they differ
    from no value.
    """

    def write(self, table: Table, columns: Mapping[str, int], out: BinaryIO) -> None:
        out.write(b",".join(map(_quoted, columns)) + b"\n")
        for block in table.rows(columns):
            for part in _flat_blocks(block, len(columns), _CELLS):
                out.write(b"\n".join(_lines(part, len(columns))) + b"\n")


def _lines(block: RowBlock, width: int) -> list[bytes]:
    cells = np.empty(len(block.values), object)
    cells[:] = _spell_all(block.values, _csv_cell)
    grid = np.full((block.rows, width), b"", object)
    grid[block.of, block.columns] = cells
    return list(map(b",".join, grid.tolist()))


def _flat_blocks(block: RowBlock, width: int, cells: int) -> Iterator[RowBlock]:
    """The rows of a block in blocks of about so many cells: a table is laid out whole, however few values it has."""
    height = max(1, cells // width)
    if block.rows <= height:
        yield block
        return
    order = np.argsort(block.of, kind="stable")
    bounds = np.searchsorted(block.of[order], np.arange(0, block.rows + height, height)).tolist()
    for number, (start, end) in enumerate(pairwise(bounds)):
        part, first = order[start:end], number * height
        values = [block.values[place] for place in part.tolist()]
        yield RowBlock(min(height, block.rows - first), block.of[part] - first, block.columns[part], values)


def _csv_cell(value: Value) -> bytes:
    return _quoted(value) if isinstance(value, str | list | dict) else spell(value).encode()


def _quoted(value: Value) -> bytes:
    text = spell(value)
    if not text or _NEEDS_QUOTES.search(text):
        text = '"' + text.replace('"', '""') + '"'
    return text.encode()


class JsonLines:
    """One object for each row, without the names that it has no value of; NaN and infinities are texts."""

    def write(self, table: Table, columns: Mapping[str, int], out: BinaryIO) -> None:
        starts = [f"{dump(spell(name))}:".encode() for name in columns]
        for block in table.rows(columns):
            out.writelines(_objects(block, starts))


def _objects(block: RowBlock, starts: list[bytes]) -> Iterator[bytes]:
    cells = _spell_all(block.values, _json_value)
    places = block.of * len(starts) + block.columns
    order = np.argsort(places, kind="stable")
    places = places[order]
    order = order[np.diff(places, append=-1) != 0]
    columns = block.columns[order].tolist()
    pairs = [starts[c] + cells[i] for c, i in zip(columns, order.tolist(), strict=True)]
    bounds = np.searchsorted(block.of[order], np.arange(block.rows + 1)).tolist()
    for start, end in pairwise(bounds):
        yield b"{%b}\n" % b",".join(pairs[start:end])


def _json_value(value: Value) -> bytes:
    if type(value) is int:
        return b"%d" % value
    return (dump(value) if not isinstance(value, float) or not math.isfinite(value) else repr(value)).encode()


def _spell_all(values: list[Value], spell_one: Callable[[Value], bytes]) -> list[bytes]:
    """The text of each value. Numbers are spelt thousands at a time; a call that has others too, one by one."""
    cells: list[bytes] = []
    for start in range(0, len(values), _TOGETHER):
        part = values[start : start + _TOGETHER]
        cells += _spell_numbers(part) or list(map(spell_one, part))
    return cells


def _spell_numbers(values: list[Value]) -> list[bytes] | None:
    """Finite numbers and booleans as Python spells them; None where there is anything else."""
    try:
        sizes = np.abs(np.frombuffer(array("d", values)))
        if not np.isfinite(sizes).all():
            return None
        cells = orjson.dumps(values)[1:-1].split(b",")
    except (TypeError, OverflowError):  # no number, or an integer of more than 64 bits
        return None
    least, most = _PLAIN
    for place in np.flatnonzero(((sizes < least) & (sizes > 0)) | (sizes >= most)).tolist():
        cells[place] = repr(values[place]).encode()
    return cells


class Parquet:
    """A column for each name: integers, floats, booleans, or texts where a name has had values of several kinds."""

    def __init__(self) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise MissingLibrary(
                "parquet needs pyarrow: pip install 'leet-tui[parquet]', or use --format csv"
            ) from error
        self._arrow: Any = pyarrow

    def write(self, table: Table, columns: Mapping[str, int], out: BinaryIO) -> None:
        arrow = self._arrow
        kinds = self._kinds(table, columns)
        schema = arrow.schema(list(zip(columns, kinds, strict=True)))
        with arrow.parquet.ParquetWriter(out, schema) as writer:
            for block in table.rows(columns):
                for part in _flat_blocks(block, len(columns), _CELLS):
                    by_column = _by_column(part, len(columns))
                    arrays = [self._array(values, kind) for values, kind in zip(by_column, kinds, strict=True)]
                    writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))

    def _kinds(self, table: Table, columns: Mapping[str, int]) -> list[Any]:
        """The type of each column, for which the log is read once more."""
        seen: list[set[str]] = [set() for _ in columns]
        for block in table.rows(columns):
            for column, kind in set(zip(block.columns.tolist(), map(_kind, block.values), strict=True)):
                seen[column].add(kind)
        return [self._type(kinds - {"null"}) for kinds in seen]

    def _type(self, kinds: set[str]) -> Any:
        """The type for values of these kinds. A float that happens to be whole is logged like an integer."""
        arrow = self._arrow
        if kinds == {"bool"}:
            return arrow.bool_()
        if kinds == {"int"}:
            return arrow.int64()
        return arrow.float64() if kinds <= {"int", "float"} else arrow.string()

    def _array(self, values: Sequence[Value], kind: Any) -> Any:
        if kind == self._arrow.string():
            values = [None if value is None else spell(value) for value in values]
        elif kind == self._arrow.float64():
            values = [None if value is None else float(value) for value in values]
        return self._arrow.array(values, type=kind)


def _kind(value: Value) -> str:
    if type(value) is int:
        return "int" if -(1 << 63) <= value < 1 << 63 else "text"
    return {bool: "bool", float: "float", type(None): "null"}.get(type(value), "text")


def _by_column(block: RowBlock, width: int) -> Iterator[list[Value]]:
    order = np.argsort(block.columns, kind="stable")
    bounds = np.searchsorted(block.columns[order], np.arange(width + 1)).tolist()
    for start, end in pairwise(bounds):
        values: list[Value] = [None] * block.rows
        for row, place in zip(block.of[order[start:end]].tolist(), order[start:end].tolist(), strict=True):
            values[row] = block.values[place]
        yield values
