"""The values of a very wide row that stand first when its names are in natural order.

row     │ l9 │ l10 │ a │ … │ l2 │ step │      a hundred thousand names: putting them all in order takes a while
cut     │ a │ l2 │ l9 │ step │                a row like any other, of the charts that a first page shows
"""

from __future__ import annotations

import numpy as np

from leet.reading.batch import Offsets
from leet.reading.items import find_items
from leet.reading.messages import Messages
from leet.reading.natural_arrays import positions_of_many

FROM = 4096
"""Values of a row from which on it is cut."""
KEPT = 512
"""Values that are left."""
_TAG_AND_LENGTH = 2


def cut_to_first_names(messages: Messages) -> Messages | None:
    """The last of some history messages with its first values alone; None where it is not wide, or out of the common.

    Keys of several parts are put in order with the tags between their parts, which is near enough for a moment.
    """
    last = messages.part(len(messages) - 1, len(messages))
    items = find_items(last)
    if len(items) < FROM or items.odd.any():
        return None
    data, begins = last.data, items.starts + _TAG_AND_LENGTH
    joined = _lines(last, begins, items.key_ends)
    if not joined.isascii() or joined.count(b"\n") != len(items) - 1:
        return None
    positions = positions_of_many(joined.decode())[:KEPT]
    bounds = [int(last.starts[0]), *items.ends.tolist()]
    kept = [data[bounds[at] : bounds[at + 1]] for at in sorted(positions)]
    rest = data[int(items.rests[0]) : int(last.ends[0])]
    return Messages.joined([b"".join((*kept, rest))]) if kept else None


def _lines(messages: Messages, starts: Offsets, ends: Offsets) -> bytes:
    """The texts between the given bounds, one a line, gathered side by side."""
    lengths = ends - starts + 1  # with the end of the line, in whose place there is a tag
    behind = np.cumsum(lengths)
    octets = messages.octets.take(np.arange(behind[-1]) + np.repeat(starts + lengths - behind, lengths))
    octets[behind - 1] = ord("\n")
    lines: bytes = octets[:-1].tobytes()
    return lines
