"""A log read for its summary: history is counted, and neither it nor the console become columns or pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leet.reading.batch import Skipped, SummaryChange
from leet.reading.bulk_blocks import Found
from leet.reading.decoder import Decoder, refused
from leet.reading.envelopes import HISTORY, OTHER, SUMMARY, open_envelopes
from leet.reading.history_skim import HistorySkim, SkimmedRows
from leet.reading.key_paths import KeyPaths


@dataclass(frozen=True, slots=True)
class Skimmed:
    """What a piece of a log holds."""

    rows: SkimmedRows
    others: list[bytes]
    """Encoded records that are neither history nor summary."""
    skipped: list[Skipped]


class Skim(Decoder):
    """Skims the records of one log, piece after piece, from its first; changes of the summary pile up."""

    def __init__(self) -> None:
        paths = KeyPaths()
        super().__init__(paths)
        self._rows = HistorySkim(paths)

    @property
    def guessed_first_step(self) -> bool:
        return self._rows.guessed_first_step

    def take_summary(self) -> tuple[SummaryChange, ...]:
        return self._summary.take()

    def names(self, rows: SkimmedRows) -> list[str]:
        """Names under which there were numbers in some rows."""
        return self._rows.names(np.flatnonzero(rows.counts))

    def skim(self, found: Found) -> Skimmed:
        """The next piece."""
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
        return Skimmed(rows, [messages[i] for i in outside], sorted(skipped, key=lambda piece: piece.offset))
