"""History records → `HistoryBatch`: the rows once, every metric as a column.

encoded records ─► FastHistory ──────────────► points, texts ─► rows and columns
                        └─ odd ones ─► read_plain ─┘
"""

from __future__ import annotations

import numpy as np

from leet.reading.batch import Floats, HistoryBatch, Offsets, TypedPlace
from leet.reading.columns import ROW_COLUMNS, Points
from leet.reading.fast_history import FastHistory, all_odd
from leet.reading.messages import Messages
from leet.reading.plain_history import Texts, read_plain

_STEP, _RUNTIME, _TIMESTAMP = range(3)


class HistoryReader:
    """Turns the history records of one log into columns, batch after batch."""

    def __init__(self, fast: FastHistory | None = None, *, plainly: bool = False) -> None:
        """`plainly`: read every record the plain way; the outcome is the same."""
        self._fast = FastHistory() if fast is None else fast
        self._names = self._fast.names
        self._plainly = plainly
        self.step = -1.0
        """Step of the last row that was read."""
        self.guessed_first_step = False
        """The first row of all had no step."""
        self._begun = False

    def read(self, messages: Messages, offsets: Offsets | None = None) -> tuple[HistoryBatch, list[tuple[int, str]]]:
        """Encoded `HistoryRecord` messages as columns, and (index, reason) of those that cannot be read.

        `offsets`, int64 [messages], says where their records begin in the log, for values that stay there.
        """
        fast = all_odd(len(messages)) if self._plainly else self._fast.read(messages)
        plain = read_plain(messages, np.flatnonzero(fast.odd), self._names)
        points = fast.points.merged(plain.points())
        numbers = fast.step_numbers
        numbers[plain.rows] = plain.step_numbers
        texts = fast.texts
        for name_id, text in plain.texts.items():
            texts[name_id] = max(text, texts.get(name_id, text))
        typed = [(index, int(offsets[index]) if offsets is not None else -1, one) for index, one in plain.typed]
        if plain.bad:
            good = np.ones(len(messages), bool)
            good[[index for index, _ in plain.bad]] = False
            row_of = np.cumsum(good, dtype=np.int32) - 1
            points = Points(points.ids, row_of[points.rows], points.values)
            numbers = numbers[good]
            texts = {name_id: (int(row_of[index]), text) for name_id, (index, text) in texts.items()}
            typed = [(int(row_of[index]), offset, one) for index, offset, one in typed]
        places: dict[str, list[TypedPlace]] = {}
        for row, offset, (name, kind, count) in typed:
            places.setdefault(name, []).append(TypedPlace(row, offset, kind, count))
        return self._batch(points, numbers, texts, places), plain.bad

    def _batch(self, points: Points, numbers: Floats, texts: Texts, typed: dict[str, list[TypedPlace]]) -> HistoryBatch:
        rows = len(numbers)
        return HistoryBatch(
            steps=self._steps(points.of_row(_STEP, rows), numbers),
            runtimes=points.of_row(_RUNTIME, rows),
            timestamps=points.of_row(_TIMESTAMP, rows),
            columns=points.columns(self._names, first=len(ROW_COLUMNS)),
            texts={self._names[i]: text for i, text in texts.items() if i >= len(ROW_COLUMNS)},
            typed=typed,
        )

    def _steps(self, logged: Floats, numbers: Floats) -> Floats:
        """`_step` where the row has a finite one, else `HistoryStep.num`, else one more than the row before."""
        steps = np.where(np.isfinite(logged), logged, numbers)
        for row in np.flatnonzero(np.isnan(steps)).tolist():
            steps[row] = (steps[row - 1] if row else self.step) + 1
        if len(steps):
            self.guessed_first_step |= not self._begun and not (np.isfinite(logged[0]) or np.isfinite(numbers[0]))
            self._begun = True
            self.step = float(steps[-1])
        return steps
