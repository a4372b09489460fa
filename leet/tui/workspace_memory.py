"""What is remembered of a directory of runs: what was selected, pinned, highlighted, asked for, and sorted by."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from leet.model.filter import Mode
from leet.model.group_curve import BANDS, Band
from leet.model.run_query import RunQuery
from leet.model.run_value import RunValue, UnknownValueError, value_named
from leet.settings.view_state import ViewState
from leet.tui.selection import Selection

SORTS = {"started": "", "name": "sort:name", "state": "sort:state", "step": "sort:-step", "duration": "sort:-duration"}
"""What the list can be sorted by with a key, as a query."""


def sorting(sort: str) -> RunQuery:
    """What sorts the list: a key of `SORTS`, or the name of a value, with `-` for the largest first.

    Raises UnknownValueError.
    """
    if sort in SORTS:
        return RunQuery.parse(SORTS[sort])
    return RunQuery.by(value_named(sort.removeprefix("-")).order, descending=sort.startswith("-"))


class WorkspaceMemory:
    """Reads and writes a `ViewState`, in which an older version may have left anything."""

    def __init__(self, view: ViewState) -> None:
        self._view = view

    def _text(self, name: str) -> str:
        found: Any = self._view.get(f"runs.{name}", "")
        return found if isinstance(found, str) else ""

    def restore(self, selection: Selection) -> None:
        keys: Any = self._view.get("runs.selected", [])
        if isinstance(keys, list):
            selection.restore([key for key in keys if isinstance(key, str)], self._text("pinned"))

    @property
    def query(self) -> RunQuery:
        mode: Mode = "glob" if self._text("mode") == "glob" else "regex"
        query = RunQuery.parse(self._text("query"), mode)
        return query if query.error is None else RunQuery()

    @property
    def sort(self) -> str:
        """A key of `SORTS`, or the name of a value: see `sorting`."""
        sort = self._text("sort")
        try:
            sorting(sort)
        except UnknownValueError:
            return "started"
        return sort

    @property
    def columns(self) -> list[RunValue]:
        """What the list has columns of, beside those that it always has."""
        found: Any = self._view.get("runs.columns", [])
        columns = []
        for name in found if isinstance(found, list) else ():
            with contextlib.suppress(UnknownValueError):
                columns.append(value_named(str(name)))
        return columns

    def keep_columns(self, columns: Sequence[RunValue]) -> None:
        self._view.set("runs.columns", [column.name for column in columns] or None)

    @property
    def highlighted(self) -> str:
        """Key of a run; empty for none."""
        return self._text("highlighted")

    @property
    def group(self) -> str:
        """What runs are grouped by; empty for nothing."""
        return self._text("group")

    @property
    def band(self) -> Band:
        return next((band for band in BANDS if band == self._text("band")), "range")

    def keep_groups(self, group: str, band: Band) -> None:
        self._view.set("runs.group", group or None)
        self._view.set("runs.band", None if band == "range" else band)

    @property
    def baseline(self) -> str:
        """Key of the run that others are held against; empty for none."""
        return self._text("baseline")

    @property
    def differences(self) -> bool:
        """Whether charts draw differences to it."""
        return self._view.get("runs.differences") is True

    @property
    def result(self) -> str:
        """Which result settings are drawn against; empty for the first."""
        return self._text("result")

    def keep_result(self, name: str) -> None:
        self._view.set("runs.result", name or None)

    def keep_baseline(self, key: str, differences: bool) -> None:
        self._view.set("runs.baseline", key or None)
        self._view.set("runs.differences", differences or None)

    def keep_selection(self, selection: Selection) -> None:
        self._view.set("runs.selected", selection.keys)
        self._view.set("runs.pinned", selection.pinned)

    def keep_list(self, query: RunQuery, sort: str) -> None:
        self._view.set("runs.query", query.text or None)
        self._view.set("runs.mode", query.mode)
        self._view.set("runs.sort", sort)

    def keep_highlighted(self, key: str) -> None:
        self._view.set("runs.highlighted", key)
