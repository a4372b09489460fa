"""History records → `HistoryBatch`: the rows once, every metric as a column.

encoded records ─► item_values ─► points (name, row, value) ─► columns
                              └─► texts
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.batch import Floats, HistoryBatch
from leet.reading.columns import Names, Points
from leet.reading.logged_values import item_values
from leet.reading.messages import Messages

ROW_COLUMNS = ("_step", "_runtime", "_timestamp")
"""What every row has at most one of, and no chart of its own; their ids come first in `Names`."""
_STEP, _RUNTIME, _TIMESTAMP = range(3)

_HistoryRecord = records.message_class("HistoryRecord")


class HistoryReader:
    """Turns the history records of one log into columns, batch after batch."""

    def __init__(self) -> None:
        self._names = Names(ROW_COLUMNS)
        self._step = -1.0  # step of the last row that was read

    def read(self, messages: Messages) -> tuple[HistoryBatch, list[tuple[int, str]]]:
        """Encoded `HistoryRecord` messages as columns, and (index, reason) of those that cannot be read."""
        row, bad = 0, []
        ids: list[int] = []
        of_row: list[int] = []
        values: list[float] = []
        step_numbers: list[float] = []
        texts: dict[str, tuple[int, str]] = {}
        for index in range(len(messages)):
            try:
                record: Any = _HistoryRecord.FromString(messages[index])
            except (DecodeError, UnicodeDecodeError) as error:
                bad.append((index, f"bad history record: {error}"))
                continue
            for name, value in item_values(record.item).items():
                if isinstance(value, float):
                    ids.append(self._names.id_of(name))
                    of_row.append(row)
                    values.append(value)
                elif name not in ROW_COLUMNS:
                    texts[name] = (row, value)
            step_numbers.append(float(record.step.num) if record.HasField("step") else math.nan)
            row += 1
        return self._batch(Points.of(ids, of_row, values), np.array(step_numbers), texts), bad

    def _batch(self, points: Points, numbers: Floats, texts: dict[str, tuple[int, str]]) -> HistoryBatch:
        rows = len(numbers)
        return HistoryBatch(
            steps=self._steps(points.row_column(_STEP, rows), numbers),
            runtimes=points.row_column(_RUNTIME, rows),
            timestamps=points.row_column(_TIMESTAMP, rows),
            columns=points.where(points.ids >= len(ROW_COLUMNS)).columns(self._names),
            texts=texts,
        )

    def _steps(self, logged: Floats, numbers: Floats) -> Floats:
        """`_step` where the row has a finite one, else `HistoryStep.num`, else one more than the row before."""
        steps = np.where(np.isfinite(logged), logged, numbers)
        for row in np.flatnonzero(np.isnan(steps)).tolist():
            steps[row] = (steps[row - 1] if row else self._step) + 1
        if len(steps):
            self._step = float(steps[-1])
        return steps
