"""The lines of `leet inspect --json` for a long log: history and summary are never made into objects.

    pieces ─► BulkBlockReader ─► envelopes ─► history, summary ─► find_items ─► names, texts of values ─► line
                                         └──► every other record, and odd ones ─► protobuf ─► record_line

The texts of values are JSON already, and those of plain numbers are spelt as they should be, so they are copied from
the log to the line. The names are sorted as in `json_text.dump`, whose spelling this is to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from leet.model.json_text import dump, load
from leet.model.record_object import record_line
from leet.reading import blocks, records
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.columns import Ids, Names
from leet.reading.envelopes import HISTORY, SUMMARY, open_envelopes
from leet.reading.fast_history import read_step_numbers
from leet.reading.items import Items, find_items
from leet.reading.key_paths import NO_PATH, KeyPaths
from leet.reading.key_table import LONGEST
from leet.reading.messages import Messages

_PIECE = 4 * 1024 * 1024
_AS_IT_IS = re.compile(
    rb"0|-?[1-9][0-9]{0,14}|-?(?:0|[1-9][0-9]{0,3})\.(?=[0-9]{0,5}[1-9])[0-9]{0,17}[1-9]|true|false|null"
)
"""Values that are spelt in the log as they are here.

Of decimals that is taken for granted: every writer uses the fewest digits that tell a float64 from its neighbours, and
a reader gets the same number from more of them.
"""


def lines(path: Path) -> Iterator[tuple[list[str], list[blocks.Skipped]]]:
    """Lines and damage of one piece of the log after the other. Raises OSError, UnsupportedLog."""
    printer, reader = _Printer(), BulkBlockReader()
    with open(path, "rb", buffering=0) as file:
        while data := file.read(_PIECE):
            yield printer.lines(reader.feed_bulk(data))
    yield printer.lines(Found.listed(reader.finish()))


class _Printer:
    def __init__(self) -> None:
        self._ordinal = 0
        self._paths = KeyPaths()
        self._names = Names([""])
        self._ids: Ids = np.empty(0, np.int64)  # by number of a path: the id of its dotted name
        self._keys = [b'"":']  # by id of a name: how an object has it as a key
        self._ranks: Ids = np.zeros(1, np.int64)  # by id of a name: its place among all in the order of names

    def lines(self, found: Found) -> tuple[list[str], list[blocks.Skipped]]:
        """Lines and damage of a piece."""
        messages = found.messages
        envelopes = open_envelopes(messages)
        bodies: dict[int, bytes] = {}
        for kind in (HISTORY, SUMMARY):
            places = np.flatnonzero(envelopes.kinds == kind)
            if len(places):
                inner = messages.cut(places, envelopes.starts, envelopes.ends)
                made = self._histories(inner) if kind == HISTORY else self._summaries(inner)
                bodies.update(zip(places.tolist(), made, strict=True))
        texts: list[str] = []
        skipped = [blocks.Skipped(piece.offset, piece.length, piece.reason) for piece in found.skipped]
        for index in range(len(messages)):
            if body := bodies.get(index):
                self._ordinal += 1
                texts.append(f'{{"num":{self._ordinal},{body.decode()}}}\n')
                continue
            payload = messages[index]
            try:
                record = records.parse(payload)
            except records.DecodeError as error:
                skipped.append(blocks.Skipped(int(found.offsets[index]), len(payload), f"bad record: {error}"))
                continue
            self._ordinal += 1
            texts.append(record_line(self._ordinal, record) + "\n")
        return texts, sorted(skipped, key=lambda piece: piece.offset)

    def _histories(self, messages: Messages) -> list[bytes]:
        items = find_items(messages)
        steps, odd = read_step_numbers(messages, items.rests)
        made = self._objects(messages, items, odd)
        known = np.isfinite(steps)
        return [
            b'"type":"history","history":{"item":%b%b}' % (body, b',"step":{"num":%d}' % step if has_step else b"")
            if body
            else b""
            for body, step, has_step in zip(made, steps.tolist(), known.tolist(), strict=True)
        ]

    def _summaries(self, messages: Messages) -> list[bytes]:
        items = find_items(messages)
        made = self._objects(messages, items, items.rests != messages.ends)
        return [b'"type":"summary","summary":{"update":%b}' % body if body else b"" for body in made]

    def _objects(self, messages: Messages, items: Items, odd: npt.NDArray[np.bool_]) -> list[bytes]:
        """The object of the items of each message; nothing for messages that are left to protobuf."""
        odd = odd.copy()
        odd[items.of[items.key_ends - items.starts > LONGEST]] = True
        items = items.without(odd)
        numbers = self._paths.keys.numbers(messages, items.starts, items.key_ends)
        odd = items.odd.copy()
        odd[items.of[numbers == NO_PATH]] = True
        ids = self._ids_of(numbers)
        order = np.argsort(items.of * len(self._names) + self._ranks.take(ids), kind="stable")
        of, ids = items.of[order], ids[order]
        odd[of[1:][(of[1:] == of[:-1]) & (ids[1:] == ids[:-1])]] = True  # of two values under one name the last counts

        keys, data = self._keys, bytes(messages.data)
        bounds = zip(items.value_starts[order].tolist(), items.ends[order].tolist(), strict=True)
        values = [data[start:end] for start, end in bounds]
        plain = _AS_IT_IS.fullmatch
        for place, value in enumerate(values):
            if not plain(value):
                try:
                    values[place] = dump(load(value.decode())).encode()
                except (UnicodeDecodeError, RecursionError):
                    odd[of[place]] = True
        pairs = [keys[name] + value for name, value in zip(ids.tolist(), values, strict=True)]
        made: list[bytes] = []
        start = 0
        counts = np.bincount(of, minlength=len(messages)).tolist()
        for count, is_odd in zip(counts, odd.tolist(), strict=True):
            body = b",".join(pairs[start : start + count])
            start += count
            made.append(b"{%b}" % body if count and not is_odd else b"")
        return made

    def _ids_of(self, numbers: Ids) -> Ids:
        """The ids of the dotted names of paths, given by their numbers; that of some name for what is no path."""
        if len(self._paths) > len(self._ids):
            fresh = [self._names.id_of(".".join(self._paths[n])) for n in range(len(self._ids), len(self._paths))]
            self._ids = np.append(self._ids, np.array(fresh, np.int64))
            names = self._names.of(range(len(self._names)))
            self._keys += [f"{dump(name)}:".encode() for name in names[len(self._keys) :]]
            self._ranks = np.empty(len(names), np.int64)
            self._ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        return self._ids.take(numbers, mode="clip") if len(self._ids) else np.zeros(len(numbers), np.int64)
