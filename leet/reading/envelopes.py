"""What kind of record each of many encoded records is, found from its first bytes.

    08 <num>   82 01 len <Control>  C2 0C len <_RecordInfo>   12 len <HistoryRecord>   82 01 len … C2 0C len …
    ╰ absent   ╰────────── absent in most records ─────────╯  ╰ or 1A, <SummaryRecord>  ╰ or behind the message
      in the oldest logs

Nearly all records of a log are history or summary in this layout, with lengths that fit the record exactly.
Every other record, whatever its reason, is `OTHER` and left to protobuf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Offsets
from leet.reading.messages import Messages, Octets, read_varints

OTHER, HISTORY, SUMMARY = 0, 2, 3
"""Field numbers of `Record`, and zero for the rest."""

_NUM = 0x08
_TAGS = {0x12: HISTORY, 0x1A: SUMMARY}
_ASIDE = ((0x82, 0x01), (0xC2, 0x0C))
_LONGEST_VARINT = 10


@dataclass(frozen=True, slots=True)
class Envelopes:
    """Kinds and the bounds of the message inside, int64 [records] each; bounds mean nothing where kind is `OTHER`."""

    kinds: npt.NDArray[np.int64]
    starts: Offsets
    ends: Offsets


def open_envelopes(messages: Messages) -> Envelopes:
    """Look into many encoded `Record` messages at once."""
    octets, limits = messages.octets, messages.ends
    tags_at = _pass_aside(octets, _pass_num(octets, messages.starts), limits)
    tags = octets[tags_at]
    kinds = np.full(len(messages), OTHER, np.int64)
    for tag, kind in _TAGS.items():
        kinds[tags == tag] = kind
    lengths, starts = read_varints(octets, tags_at + 1)
    ends = starts + lengths
    kinds[(lengths < 0) | (_pass_aside(octets, ends, limits) != limits)] = OTHER
    return Envelopes(kinds, starts, ends)


def field_numbers(messages: Messages) -> npt.NDArray[np.int64]:
    """The number of the field of `Record` that each record holds, int64 [records]; 0 where it holds none."""
    octets, limits = messages.octets, messages.ends
    at = _pass_aside(octets, _pass_num(octets, messages.starts), limits)
    tags, _ = read_varints(octets, at)
    return np.where(at < limits, np.maximum(tags, 0) >> 3, 0)


def _pass_num(octets: Octets, at: Offsets) -> Offsets:
    """The positions behind the number that a record may begin with."""
    at = at.copy()
    going = np.flatnonzero(octets[at] == _NUM)
    at[going] += 1
    for _ in range(_LONGEST_VARINT):
        more = octets[at[going]] >= 0x80
        at[going] += 1
        going = going[more]
        if not len(going):
            break
    return at


def _pass_aside(octets: Octets, at: Offsets, limits: Offsets) -> Offsets:
    """The positions behind what is of no interest to a reader, as far as it lies before `limits`."""
    at = at.copy()
    for tag in _ASIDE:
        going = np.flatnonzero(at < limits)
        going = going[octets[at[going]] == tag[0]]
        going = going[octets[at[going] + 1] == tag[1]]
        lengths, behind = read_varints(octets, at[going] + 2)
        within = (lengths >= 0) & (behind + lengths <= limits[going])
        at[going[within]] = (behind + lengths)[within]
    return at
