"""What a person types about a chart: the ends of its y axis, a threshold. Nonsense is refused with one line."""

from __future__ import annotations

import math
import re

from leet.charts.threshold import Threshold

NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(Ki|Mi|Gi|Ti|[kKMGTmuµn%]?)")
FACTORS = {"": 1.0, "%": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "m": 1e-3, "u": 1e-6, "µ": 1e-6}
FACTORS |= {"n": 1e-9, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}

Limits = tuple[float | None, float | None]


class WrongEntry(ValueError):  # noqa: N818 - it is what was typed that is wrong
    """What was typed means nothing here; says what would."""


def number_of(text: str) -> float:
    """A finite number: `0.5`, `1e-3`, `20k`, `8Gi`, `90%` (the number that an axis in per cent shows)."""
    match = NUMBER.fullmatch(text.strip())
    value = float(match[1]) * FACTORS[match[2]] if match else math.nan
    if not math.isfinite(value):
        raise WrongEntry(f"{text.strip()!r} is no number: 0.5, 1e-3, 20k or 8Gi would be one")
    return value


def limits_of(text: str, factor: float = 1.0, *, log: bool = False) -> Limits:
    """`min..max`, either of which may be left out; (None, None) for nothing at all.

    `factor` makes the numbers that the axis shows of values; `log`: the axis is logarithmic.
    """
    if not text.strip():
        return None, None
    first, dots, second = text.partition("..")
    if not dots or not (first.strip() or second.strip()):
        raise WrongEntry("a range is min..max, such as 0..2.5; one end may be left out: ..1")
    low, high = (number_of(end) / (factor or 1.0) if end.strip() else None for end in (first, second))
    if low is not None and high is not None and not low < high:
        raise WrongEntry(f"{first.strip()} is not below {second.strip()}")
    if log and any(end is not None and end <= 0 for end in (low, high)):
        raise WrongEntry("a logarithmic axis shows values above 0 only")
    return low, high


def threshold_of(text: str, factor: float = 1.0) -> Threshold | None:
    """`>0.9` or `<1e-3`; None for nothing at all. `factor` makes the numbers that the axis shows of values."""
    text = text.strip()
    if not text:
        return None
    if text[0] not in "<>":
        raise WrongEntry("a threshold is >0.9, crossed by values above, or <1e-3, by values below")
    return Threshold(text[0] == ">", number_of(text[1:].removeprefix("=")) / (factor or 1.0))
