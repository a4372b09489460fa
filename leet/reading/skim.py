"""A log read for its summary: history is counted, and neither it nor the console become columns or pieces."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from leet.reading.batch import Skipped
from leet.reading.bulk_blocks import Found
from leet.reading.columns import Ids
from leet.reading.decoder import Decoder, refused
from leet.reading.envelopes import HISTORY, OTHER, SUMMARY, open_envelopes
from leet.reading.fast_history import FastHistory
from leet.reading.history_skim import HistorySkim, SkimmedRows


@dataclass(slots=True)
class Skimmed:
    """What the records of a log that follow each other come to."""

    step: float | None = None
    """The greatest that is no less than 0."""
    runtime: float | None = None
    """That of the last row that has one."""
    counts: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    """By id of a name: how many numbers there were under it."""
    others: list[bytes] = field(default_factory=list)
    """Encoded records that are neither history nor summary."""
    skipped: list[Skipped] = field(default_factory=list)

    def add(self, rows: SkimmedRows) -> None:
        """Take in more rows."""
        steps = rows.steps[rows.steps >= 0]
        if len(steps):
            self.step = max(float(steps.max()), self.step or 0.0)
        self.runtime = self.runtime if rows.runtime is None else rows.runtime
        counts = rows.counts
        counts[: len(self.counts)] += self.counts
        self.counts = counts


class Skim(Decoder):
    """Skims the records of one log, piece after piece, from its first; what they come to piles up until it is taken."""

    def __init__(self) -> None:
        fast = FastHistory()
        super().__init__(fast)
        self._rows = HistorySkim(fast)
        self._skimmed = Skimmed()

    @property
    def guessed_first_step(self) -> bool:
        return self._rows.guessed_first_step

    @property
    def step(self) -> float:
        """That of the last row, on which the next one depends if it has none."""
        return self._rows.step

    @step.setter
    def step(self, step: float) -> None:
        self._rows.step = step

    def take(self) -> Skimmed:
        """What the pieces since the last call came to, the summary apart."""
        skimmed, self._skimmed = self._skimmed, Skimmed()
        return skimmed

    def names(self, ids: Ids) -> list[str]:
        """The names with these ids."""
        return self._rows.names(ids)

    def skim(self, found: Found) -> None:
        """Read the next piece."""
        messages = found.messages
        envelopes = open_envelopes(messages)
        outside = np.flatnonzero(envelopes.kinds == OTHER).tolist()
        others = self._decode_others(found, envelopes)
        history_rows, bodies = others.bodies(HISTORY, messages, envelopes)
        rows = self._rows.skim(bodies)
        summary_rows, bodies = others.bodies(SUMMARY, messages, envelopes)
        bad = others.bad
        bad += [(int(summary_rows[index]), reason) for index, reason in self._summary.read(bodies)]
        bad += [(int(history_rows[index]), reason) for index, reason in rows.bad]
        skipped = [*found.skipped, *(refused(found, index, reason) for index, reason in bad)]
        self._skimmed.add(rows)
        self._skimmed.others += [messages[i] for i in outside]
        self._skimmed.skipped += sorted(skipped, key=lambda piece: piece.offset)
