"""One record of a log → the object that `wandb leet inspect --json` prints for it.

    {"num": 12, "type": "history", "history": {"item": {"loss": 0.5, "opt.lr": 0.1}, "step": {"num": 3}}}

It is protobuf's JSON form with three things of its own: 64-bit integers are texts except the step, fields that say
something by being zero (an exit code) are always there, and lists of keyed JSON values become one object under dotted
keys. Typed values take part in that too, which LEET leaves as a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from leet.model.json_text import dump, load
from leet.reading import records
from recorder.transaction_log import schema

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HIDDEN = frozenset({"control"})
_ALWAYS: dict[str, dict[str, Any]] = {
    "RunExitRecord": {"exit_code": 0},
    "HistoryStep": {"num": 0},
    "OutputRawRecord": {"output_type": "STDERR"},
    "OutputRecord": {"output_type": "STDERR"},
}

Convert = Callable[[Any], Any]


def record_body(record: Any) -> tuple[str, dict[str, Any] | None]:
    """The kind of a `Record` message and the object under that key; none where nothing known is in it."""
    kind = records.kind(record)
    return kind, None if kind == "unknown" else _fields("Record")[kind](getattr(record, kind))


def record_line(ordinal: int, record: Any) -> str:
    """The `ordinal`-th record (1 is the first) as one line of JSON."""
    kind, body = record_body(record)
    start = f'{{"num":{ordinal},"type":"{kind}"'
    return f"{start}}}" if body is None else f'{start},"{kind}":{dump(body)}}}'


@cache
def _fields(message: str) -> dict[str, Convert]:
    return {f.name: _field(message, f) for f in schema.messages()[message] if f.name not in _HIDDEN}


def _field(message: str, field: schema.Field) -> Convert:
    convert = _single(message, field)
    if field.map_key is not None:
        return lambda value: {str(key): convert(one) for key, one in value.items()}
    if not field.repeated:
        return convert
    if any(f.name == "value_json" for f in schema.messages().get(field.kind, ())):
        return lambda value: keyed_values(value) or [convert(one) for one in value]
    return lambda value: [convert(one) for one in value]


def _single(message: str, field: schema.Field) -> Convert:
    if field.kind == "Timestamp":
        return lambda value: timestamp(value.seconds, value.nanos, by_thousands=True)
    if field.kind in schema.messages():
        return lambda value: _message(field.kind, value)
    if field.kind in schema.ENUMS:
        names = {number: name for name, number in schema.ENUMS[field.kind].items()}
        if field.kind == "NullValue":
            return lambda value: None
        return lambda value: names.get(value, value)
    if field.kind in ("int64", "uint64", "sint64") and message != "HistoryStep":
        return str
    return lambda value: value


def _message(kind: str, message: Any) -> dict[str, Any]:
    fields = _fields(kind)
    shown = dict(_ALWAYS.get(kind, ()))
    for descriptor, value in message.ListFields():
        if convert := fields.get(descriptor.name):
            shown[descriptor.name] = convert(value)
    return shown


def keyed_values(items: Iterable[Any]) -> dict[str, Any] | None:
    """Dotted key → value of items that all have a value; None where one has none, as those of a removal."""
    values: dict[str, Any] = {}
    for item in items:
        form = item.WhichOneof("value") if "value" in item.DESCRIPTOR.oneofs_by_name else None
        if form is None and not item.value_json:
            return None
        nested = item.nested_key if hasattr(item, "nested_key") else ()
        values[".".join(nested) if nested else item.key] = typed_value(item, form)
    return values


def typed_value(item: Any, form: str | None) -> Any:
    """The value of an item: of the oneof field `form`, else of its JSON text."""
    if form is None:
        return load(item.value_json)
    if form == "none":
        return None
    return load(item.json) if form == "json" else getattr(item, form)


def timestamp(seconds: int, nanos: int, by_thousands: bool = False) -> str:
    """UTC in RFC 3339, the fraction without its trailing zeros, in threes where `by_thousands`."""
    try:
        text = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    except OverflowError:
        return f"{seconds}s"
    fraction = f"{nanos:09d}".rstrip("0") if 0 < nanos < 10**9 else ""
    if by_thousands:
        fraction = fraction.ljust(-(-len(fraction) // 3) * 3, "0")
    return f"{text}.{fraction}Z" if fraction else f"{text}Z"
