"""Python values → plain data: what JSON can hold, and nothing of the library that a value came from.

Scalars and arrays of numpy, torch, jax and tensorflow are known by what they can do, never by importing anything.
Three places take values, and they differ in small ways (wandb-format §3.2):

* history keeps NaN and turns arrays of more than 32 elements into histograms;
* the config turns NaN into null, and what it does not know into text;
* a summary that is set by hand turns a NaN alone into null, and big arrays into their statistics.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from recorder.notices import reason, warn_once
from recorder.transaction_log import json_values

BIG_ARRAY = 32
"""An array of more elements is not kept as a list."""


class UnknownValueError(TypeError):
    """A value that no rule knows."""


def history_value(value: Any) -> Any:
    """A logged value as plain data: None, bool, int, float, str, list or dict.

    Raises UnknownValueError, and whatever a foreign object raises when it is asked for its content.
    """
    return _plain(value, json_values.histogram, nan=math.nan)


def config_value(value: Any) -> Any:
    """A value of the config as plain data; what is not known, contains itself or is too deep becomes text."""
    try:
        return _plain(value, str, nan=None)
    except UnknownValueError:
        pass
    except Exception as error:  # foreign objects raise anything; the training goes on
        kind = type(value).__qualname__
        warn_once(f"a {kind} in the config is stored as text: {reason(error)}", f"config: {kind}")
    return text(value)


def text(value: Any) -> str:
    """`str(value)`, and the kind of the value where it has none."""
    try:
        return str(value)
    except Exception:  # any class may define it as it likes, and long integers have none
        return hex(value) if type(value) is int else f"<{type(value).__qualname__}>"


def summary_value(value: Any) -> Any:
    """A value set in the summary by hand as plain data. Raises as `history_value` does."""
    plain = _plain(value, _as_statistics, nan=math.nan)
    return _without_nan(plain)


def _without_nan(plain: Any) -> Any:
    """NaN alone means "no value"; inside a list it keeps its place."""
    if isinstance(plain, dict):
        return {key: _without_nan(item) for key, item in plain.items()}
    return None if isinstance(plain, float) and math.isnan(plain) else plain


def _plain(value: Any, big_array: Callable[[Any], Any], nan: float | None) -> Any:
    kind = type(value)
    if kind in (bool, int, str, type(None)):
        return value
    if kind is float:
        return nan if math.isnan(value) else value
    if isinstance(value, Enum):
        return value.name
    for base in (str, int, float):
        if isinstance(value, base):
            return _plain(base(value), big_array, nan)
    if hasattr(kind, "as_value"):
        return _plain(value.as_value(), big_array, nan)
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, big_array, nan) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [_plain(item, big_array, nan) for item in value]
    if hasattr(kind, "dtype") or hasattr(value, "dtype"):
        return _array(value, big_array, nan)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    return _other(value, big_array, nan)


def _other(value: Any, big_array: Callable[[Any], Any], nan: float | None) -> Any:
    kind = type(value)
    if isinstance(value, complex):
        return str(value).strip("()")
    if hasattr(kind, "isoformat"):
        return value.isoformat()
    if hasattr(kind, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name), big_array, nan) for name in value.__dataclass_fields__}
    if isinstance(value, slice):
        return {"slice_start": value.start, "slice_step": value.step, "slice_stop": value.stop}
    if callable(value):
        name = getattr(value, "__qualname__", None)
        return f"{value.__module__}.{name}" if name and hasattr(value, "__module__") else str(value)
    if kind.__name__ == "Decimal":
        return str(value)
    raise UnknownValueError(f"a value of type {kind.__qualname__} has no form in JSON")


def _array(value: Any, big_array: Callable[[Any], Any], nan: float | None) -> Any:
    """Scalars, arrays and tensors: one element is a number, few a list, many what the place makes of them."""
    if hasattr(value, "detach"):  # torch: off the graph and off the device
        value = value.detach().cpu()
    elif hasattr(value, "numpy") and not hasattr(value, "tolist"):  # tensorflow
        value = value.numpy()
    shape = getattr(value, "shape", None)
    size = math.prod(shape) if shape is not None else 1
    if size == 1 and hasattr(value, "item"):
        item = value.item()
        if type(item) is type(value):
            raise UnknownValueError(f"a value of type {type(value).__qualname__} has no form in JSON")
        return _plain(item, big_array, nan)
    if size > BIG_ARRAY:
        return big_array(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), big_array, nan)
    raise UnknownValueError(f"a value of type {type(value).__qualname__} has no form in JSON")


def _as_statistics(array: Any) -> Any:
    """What the SDK's summary keeps of a big array. Needs the numpy that made the array."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return json_values.histogram(array)
    name = f"{type(array).__module__}.{type(array).__qualname__}"
    array = numpy.asarray(array)
    quantiles = (float(q) for q in numpy.percentile(array, (10, 25, 75, 90)))
    return {
        "_type": name,
        "var": float(array.var()),
        "mean": float(array.mean()),
        "min": array.min().item(),
        "max": array.max().item(),
        **dict(zip(("10%", "25%", "75%", "90%"), quantiles, strict=True)),
        "size": int(array.size),
    }


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str(key)
    if hasattr(key, "item"):  # a numpy scalar
        key = key.item()
    return json_values.dump(key) if isinstance(key, bool | int | float | None) else str(key)


def leaves(value: Any, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Any]]:
    """The leaves of nested dicts with their paths. An empty dict has none."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    else:
        yield path, value
