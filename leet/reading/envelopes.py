"""What kind of record each of many encoded records is, found from its first bytes.

    08 <num>   12 <length> <HistoryRecord>   82 01 <length> <Control>   C2 0C <length> <_RecordInfo>
    ╰ absent    ╰ or 1A, a SummaryRecord      ╰────────── absent in most records ──────────╯
      in old logs

Nearly all records of a log are history or summary in this layout, with lengths that fit the record exactly.
Every other record, whatever its reason, is `OTHER` and left to protobuf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Offsets
from leet.reading.messages import Messages, Octets

OTHER, HISTORY, SUMMARY = 0, 2, 3
"""Field numbers of `Record`, and zero for the rest."""

_NUM = 0x08
_TAGS = {0x12: HISTORY, 0x1A: SUMMARY}
_LONGEST_VARINT = 10


@dataclass(frozen=True, slots=True)
class Envelopes:
    """Kinds and the bounds of the message inside, int64 [records] each; bounds mean nothing where kind is `OTHER`."""

    kinds: npt.NDArray[np.int64]
    starts: Offsets
    ends: Offsets


def open_envelopes(messages: Messages) -> Envelopes:
    """Look into many encoded `Record` messages at once."""
    octets = messages.octets
    tag_at = messages.starts.copy()
    numbered = octets[tag_at] == _NUM
    tag_at[numbered] = _varint_end(octets, tag_at[numbered] + 1)
    tags = octets[tag_at]
    kinds = np.zeros(len(messages), np.int64)
    for tag, kind in _TAGS.items():
        kinds[tags == tag] = kind
    lengths, starts = read_varints(octets, tag_at + 1)
    ends = starts + lengths
    kinds[(lengths < 0) | (_rest_end(messages, ends) != messages.ends)] = OTHER
    return Envelopes(kinds, starts, ends)


def read_varints(octets: Octets, at: Offsets) -> tuple[Offsets, Offsets]:
    """Values below 2^28 of the varints at `at`, -1 for greater ones, and the positions behind them."""
    first = octets[at].astype(np.int64)
    values, behind = first, at + 1
    longer = np.flatnonzero(first >= 0x80)
    if len(longer):
        values[longer] &= 0x7F
        for shift in (7, 14, 21):
            octet = octets[behind[longer]].astype(np.int64)
            values[longer] |= (octet & 0x7F) << shift
            behind[longer] += 1
            longer = longer[octet >= 0x80]
            if not len(longer):
                break
        values[longer] = -1
    return values, behind


def _varint_end(octets: Octets, at: Offsets) -> Offsets:
    at = at.copy()
    going = np.arange(len(at))
    for _ in range(_LONGEST_VARINT):
        going = going[octets[at[going]] >= 0x80]
        if not len(going):
            break
        at[going] += 1
    return at + 1


def _rest_end(messages: Messages, ends: Offsets) -> Offsets:
    """Where the control and info messages behind the message end that ends at `ends`."""
    octets = messages.octets
    ends = ends.copy()
    for tag in ((0x82, 0x01), (0xC2, 0x0C)):
        going = np.flatnonzero(ends < messages.ends)
        at = ends[going]
        ours = (octets[at] == tag[0]) & (octets[at + 1] == tag[1])
        lengths, starts = read_varints(octets, at[ours] + 2)
        ends[going[ours]] = np.where(lengths < 0, -1, starts + lengths)
    return ends
