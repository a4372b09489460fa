"""Round values along an axis and their labels.

A tick is an exact decimal *k* · *m* · 10^*e* with *m* one of 1, 2, 5, so labels are made from integers: they carry
no rounding noise, and all labels of an axis have the same number of digits.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import lru_cache

from leet.charts.scale import antilog
from leet.model.units import NUMBER, Unit, format_time

_WIDEST = 8
"""Labels wider than this are written as a distance from a round number."""
_PREFIXED_FROM = 2000.0
"""Axes without a unit that reach this far have `k` on their labels."""
_SI = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
_STRIDES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
"""Decades between the ticks of a log axis."""
_TIMES = tuple(
    (math.log10(number * seconds), f"{number}{sign}")
    for sign, seconds, numbers in (
        ("us", 1e-6, (1, 10, 100)),
        ("ms", 1e-3, (1, 10, 100)),
        ("s", 1.0, (1, 2, 5, 10, 20)),
        ("m", 60.0, (1, 2, 5, 10, 20)),
        ("h", 3600.0, (1, 2, 5, 10)),
        ("d", 86400.0, (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000)),
    )
    for number in numbers
)
"""Decades of times with a name, and the names."""
_COARSE_TIMES = tuple((value, name) for value, name in _TIMES if name.rstrip("usmhd") in ("1", "10", "100", "1000"))
_LATEST = 253402300799.0
"""End of the year 9999, after which there is no time of day."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """Values along an axis, ascending, and their labels. `base` is a number that all labels leave out, or empty."""

    values: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    base: str = ""

    @property
    def width(self) -> int:
        return max(map(len, self.labels), default=0)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Multiples `first` … `last` of the step `mantissa` · 10^`exponent`."""

    first: int
    last: int
    mantissa: int
    exponent: int

    @property
    def integers(self) -> list[int]:
        return [k * self.mantissa for k in range(self.first, self.last + 1)]


def round_step(span: float, count: float) -> tuple[int, int]:
    """The smallest step (m, e), m · 10^e with m in 1, 2, 5, that cuts `span` into at most `count` pieces."""
    raw = span / count
    if not 0 < raw < math.inf:
        return (1, 309) if raw > 0 else (1, -324)
    exponent = math.floor(math.log10(raw))
    for mantissa, e in ((1, exponent), (2, exponent), (5, exponent), (1, exponent + 1), (2, exponent + 1)):
        if float(f"{mantissa}e{e}") >= raw * (1 - 1e-9):
            return mantissa, e
    return 5, exponent + 1


@lru_cache(maxsize=1024)
def number_ticks(lo: float, hi: float, count: float, unit: Unit = NUMBER) -> Ticks:
    """At most about `count` ticks from `lo` to `hi`, both in raw values of `unit`."""
    factor = unit.factor or 1.0
    low, high = lo * factor, hi * factor
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high, factor, unit = lo, hi, 1.0, NUMBER
    if unit.scaling == "seconds":
        if max(abs(low), abs(high)) >= 2 * _MINUTE and high - low >= 2:
            ticks = duration_ticks(low, high, count)
            return Ticks(tuple(v / factor for v in ticks.values), ticks.labels, ticks.base)
        unit = Unit("s", "si", factor)
    power = 0
    if unit.scaling == "binary":
        while power < len(_BINARY) - 1 and max(abs(low), abs(high)) >= 1024.0 ** (power + 1):
            power += 1
        low, high, factor = low / 1024.0**power, high / 1024.0**power, factor / 1024.0**power
    grid = _grid(low, high, count)
    if grid is None:
        return _ends(lo, hi)
    values = tuple(float(f"{n}e{grid.exponent}") / factor for n in grid.integers)
    if unit.scaling == "binary":
        labels = _suffixed(grid, 0, _BINARY[power])
        return Ticks(values, labels) if max(map(len, labels)) <= _WIDEST + 2 else _from_base(grid, values)
    labels = _labels(grid, unit, max(abs(low), abs(high)))
    return Ticks(values, labels) if max(map(len, labels)) <= _WIDEST else _from_base(grid, values)


def _grid(low: float, high: float, count: float) -> _Grid | None:
    """The multiples of a round step between `low` and `high`; None at the ends of the range of floats."""
    half = high * 0.5 - low * 0.5
    for pieces in (count, 2 * count, 4 * count):
        mantissa, exponent = round_step(half, max(pieces, 1) * 0.5)
        step = float(f"{mantissa}e{exponent}")
        if not (math.isfinite(step) and step > 0):
            return None
        first, last = low / step, high / step
        if not (abs(first) < 1e15 and abs(last) < 1e15):
            return None
        grid = _Grid(math.ceil(first - 1e-6), math.floor(last + 1e-6), mantissa, exponent)
        if grid.first < grid.last:
            return grid
    return None


def _ends(lo: float, hi: float) -> Ticks:
    """The bounds themselves, where no round value lies between them; one of them when they look the same."""
    low, high = (f"{value:.6g}".replace("e+", "e") for value in (lo, hi))
    return Ticks((lo,), (low,)) if low == high else Ticks((lo, hi), (low, high))


def _decimal(integer: int, exponent: int) -> str:
    """`integer` · 10^`exponent` in plain digits; zero is always `0`."""
    if integer == 0:
        return "0"
    if exponent >= 0:
        return str(integer * 10**exponent)
    digits = str(abs(integer)).rjust(1 - exponent, "0")
    return f"{'-' if integer < 0 else ''}{digits[:exponent]}.{digits[exponent:]}"


def _suffixed(grid: _Grid, power: int, suffix: str) -> tuple[str, ...]:
    integers = grid.integers
    if grid.exponent < power and all(n % 10 == 0 for n in integers):
        return _suffixed_integers([n // 10 for n in integers], grid.exponent + 1 - power, suffix)
    return _suffixed_integers(integers, grid.exponent - power, suffix)


def _suffixed_integers(integers: list[int], exponent: int, suffix: str) -> tuple[str, ...]:
    return tuple(_decimal(n, exponent) + (suffix if n else "") for n in integers)


def _labels(grid: _Grid, unit: Unit, reach: float) -> tuple[str, ...]:
    """The shortest of: plain, with an SI prefix, in powers of ten; plain when there is little between them.

    `reach` is the greatest magnitude on the axis. It alone decides between `1000` and `1k`, so that charts over the
    same axis agree whatever ticks they have room for.
    """
    sign = unit.sign if len(unit.sign) <= 2 and unit.scaling in ("none", "si", "watt") else ""
    largest = max((abs(n) for n in grid.integers), default=0)
    magnitude = len(str(largest)) - 1 + grid.exponent if largest else 0
    if abs(magnitude) > 30:
        return _suffixed(grid, magnitude, f"e{magnitude}")
    power = 3 * (magnitude // 3)
    choices = [(0.0, _suffixed(grid, 0, sign))]
    if unit.scaling == "megahertz":
        choices = [(0.0, _suffixed(grid, 3, "G"))] if power >= 3 else [(0.0, _suffixed(grid, 0, "M"))]
    elif unit.scaling in ("watt", "decimal-rate") or (unit.scaling == "si" and (power > 0 or sign)):
        prefix = _SI.get(power) if unit.scaling == "si" else _SI.get(max(power, 0))
        if prefix and sign:
            choices.append((0.0, _suffixed(grid, power, prefix + sign)))
        elif prefix and reach >= _PREFIXED_FROM:
            prefixed = _suffixed(grid, power, prefix)
            exact = all(len(label.partition(".")[2]) <= 1 + len(prefix) for label in prefixed)
            choices.append((-1.5 if exact else 0.5, prefixed))
    if magnitude and unit.scaling in ("none", "si"):
        choices.append((2.5, _suffixed(grid, magnitude, f"e{magnitude}" + sign)))
    return min(choices, key=lambda choice: choice[0] + max(map(len, choice[1])))[1]


def _from_base(grid: _Grid, values: tuple[float, ...]) -> Ticks:
    """Labels as the distance from a round number below all of them, which is named once."""
    integers = grid.integers
    reach = 10 ** max(len(str(integers[-1] - integers[0])), 1)
    base = integers[0] // reach * reach
    digits, exponent = base, grid.exponent
    while digits and digits % 10 == 0:
        digits, exponent = digits // 10, exponent + 1
    name = _decimal(digits, exponent)
    if len(name) > _WIDEST and abs(digits) < 10**6:
        name = f"{digits}e{exponent}"
    rest = [n - base for n in integers]
    magnitude = len(str(max(rest))) - 1 + grid.exponent
    shifted = _Grid(0, 0, 1, grid.exponent)
    plain = _suffixed_integers(rest, shifted.exponent, "")
    scientific = _suffixed_integers(rest, grid.exponent - magnitude, f"e{magnitude}")
    best = min((plain, scientific), key=lambda labels: max(map(len, labels)))
    return Ticks(values, tuple(label if label == "0" else "+" + label for label in best), name)


@lru_cache(maxsize=1024)
def log_ticks(lo: float, hi: float, count: float, unit: Unit = NUMBER) -> Ticks:
    """Ticks between the decades `lo` and `hi` (log10 of raw values): decades, 1-2-5 when there are few of them."""
    shift = math.log10(unit.factor) if unit.factor > 0 else 0.0
    low, high = lo + shift, hi + shift
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    decades = last - first + 1
    count = max(count, 2)
    if decades >= 3 or (decades == 2 and count < 4):
        stride = next(s for s in _STRIDES if s * count >= decades)
        # Multiples of the stride, unless counting from the first decade gives more of them.
        anchors = (0, first)
        every = max(([e for e in range(first, last + 1) if (e - a) % stride == 0] for a in anchors), key=len)
        return _log_labels([(1, e) for e in every], shift, unit)
    grid = [(m, e) for e in range(math.floor(low), last + 1) for m in (1, 2, 5)]
    grid = [(m, e) for m, e in grid if low - 1e-9 <= math.log10(m) + e <= high + 1e-9]
    if len(grid) > count:
        grid = [(m, e) for m, e in grid if m in (1, 5)] if len(grid) <= 1.5 * count else [g for g in grid if g[0] == 1]
    if len(grid) >= 2:
        return _log_labels(grid, shift, unit)
    linear = number_ticks(antilog(lo), antilog(hi), count, unit)
    return Ticks(tuple(math.log10(v) if v > 0 else lo for v in linear.values), linear.labels, linear.base)


def _log_labels(grid: list[tuple[int, int]], shift: float, unit: Unit) -> Ticks:
    """Labels that differ in magnitude: plain near 1, powers of ten elsewhere."""
    values = tuple(math.log10(m) + e - shift for m, e in grid)
    sign = unit.sign if len(unit.sign) == 1 else ""
    if all(-4 <= e <= 3 for _, e in grid):
        return Ticks(values, tuple(_decimal(m, e) + sign for m, e in grid))
    if all(0 <= e <= 14 for _, e in grid) and unit.scaling != "binary":
        return Ticks(values, tuple(_decimal(m, e % 3) + _SI[e - e % 3] + sign for m, e in grid))
    return Ticks(values, tuple(f"{m}e{e}{sign}" for m, e in grid))


@lru_cache(maxsize=1024)
def duration_ticks(lo: float, hi: float, count: float) -> Ticks:
    """Ticks of an axis in seconds: `30s`, `1:30`, `5m`, `1h05`, `2d`."""
    step = _time_step((hi - lo) / max(count, 1))
    if step is None or abs(lo) > 1e12 or abs(hi) > 1e12:
        return number_ticks(lo, hi, count, Unit("s", "si"))
    first, last = math.ceil(lo / step - 1e-6), math.floor(hi / step + 1e-6)
    if first > last:
        return _ends(lo, hi)
    seconds = [k * step for k in range(first, last + 1)]
    longest = max(abs(seconds[0]), abs(seconds[-1]))
    return Ticks(tuple(map(float, seconds)), tuple(_duration(s, step, longest) for s in seconds))


@lru_cache(maxsize=1024)
def log_duration_ticks(lo: float, hi: float, count: float) -> Ticks:
    """Ticks between the decades `lo` and `hi` of seconds: `100ms`, `1s`, `1m`, `1h`, `1d` and what lies between."""
    for every in (_TIMES, _COARSE_TIMES, _COARSE_TIMES[::2], _COARSE_TIMES[::3], _COARSE_TIMES[::4]):
        found = [(value, label) for value, label in every if lo <= value <= hi]
        if 2 <= len(found) <= max(count, 2):
            return Ticks(tuple(value for value, _ in found), tuple(label for _, label in found))
    linear = duration_ticks(antilog(lo), antilog(hi), count)
    places = [(math.log10(v), label) for v, label in zip(linear.values, linear.labels, strict=True) if v > 0]
    return Ticks(tuple(v for v, _ in places), tuple(label for _, label in places), linear.base)


def _time_step(raw: float) -> int | None:
    """The smallest whole step of a clock or calendar that is at least `raw` seconds; None below one second."""
    if not (0.5 < raw < 1e12):
        return None
    for step in _SECONDS:
        if step >= raw * (1 - 1e-9):
            return step
    mantissa, exponent = round_step(raw / _DAY, 1)
    return _DAY * mantissa * 10**exponent if exponent >= 0 else _DAY


def _duration(seconds: int, step: int, longest: int) -> str:
    if seconds == 0:
        return "0"
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    days, rest = divmod(seconds, _DAY)
    hours, minutes = rest // _HOUR, rest % _HOUR // _MINUTE
    if longest >= 2 * _DAY:
        return (
            f"{sign}{days}d"
            if step % _DAY == 0
            else f"{sign}{days}d{hours:02}" + ("h" if step % _HOUR == 0 else f":{minutes:02}")
        )
    hours += 24 * days
    if step % _MINUTE and longest >= _HOUR:
        return f"{sign}{hours}:{minutes:02}:{seconds % _MINUTE:02}"
    if step % _MINUTE:
        return f"{sign}{seconds // _MINUTE}:{seconds % _MINUTE:02}" if longest >= _MINUTE else f"{sign}{seconds}s"
    if longest < _HOUR:
        return f"{sign}{seconds // _MINUTE}m"
    return f"{sign}{hours}h" if step % _HOUR == 0 else f"{sign}{hours}h{minutes:02}"


@lru_cache(maxsize=1024)
def clock_ticks(lo: float, hi: float, count: float) -> Ticks:
    """Ticks of an axis in Unix seconds: local time of day, dates when it spans two days or more."""
    step = _time_step((hi - lo) / max(count, 1)) or (1 if hi - lo >= 1 else None)
    if step is None or not (lo >= 0 and hi <= _LATEST):
        return number_ticks(lo, hi, count)
    offset = time.localtime(lo).tm_gmtoff
    first, last = math.ceil((lo + offset) / step - 1e-6), math.floor((hi + offset) / step + 1e-6)
    if first > last:
        return _ends(lo, hi)
    values = tuple(float(k * step - offset) for k in range(first, last + 1))
    if hi - lo >= 2 * _DAY:
        form = "%m-%d" if step % _DAY == 0 else "%m-%d %H:%M"
        form = "%Y-%m" if step >= 30 * _DAY else form
    elif step % _MINUTE:
        form = "%H:%M:%S"
    else:
        form = "%H:%M" if hi - lo >= _HOUR else "%H:%M:%S"
    return Ticks(values, tuple(format_time(value, form) for value in values))
