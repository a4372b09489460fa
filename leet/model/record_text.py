"""Records as text for people: a heading with a digest, then every value on a line of its own.

    12  history  step 3 · loss 0.25, acc 0.5
      item.acc   0.5
      item.loss  0.25
      step.num   3

Nothing of it can move the cursor: control characters of a log are shown, not sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from leet.model.json_text import dump
from leet.model.record_object import record_body, typed_value
from leet.model.safe_text import clean
from leet.reading import records

_DIGEST = 100
"""Characters of a digest."""
_DEEPEST = 64
_BRIEF = 5
"""Significant digits of rounded numbers."""
_PLAIN = re.compile(r"0|-?[1-9][0-9]{0,14}|-?(?:0|[1-9][0-9]{0,3})\.(?=[0-9]{0,5}[1-9])[0-9]{0,17}[1-9]").fullmatch
"""JSON texts of numbers that are shown as they stand."""
_LISTS = {
    "history": ("item",),
    "summary": ("update", "remove"),
    "config": ("update", "remove"),
    "stats": ("item",),
}
"""Kinds that are lists of keyed values, and where these are."""

_FACTS = {
    "header": ("version_info.producer",),
    "run": ("display_name", "run_id", "project", "entity"),
    "exit": ("exit_code",),
    "output_raw": ("line",),
    "output": ("line",),
    "output_logger": ("line",),
    "metric": ("name", "glob_name", "step_metric"),
    "alert": ("level", "title"),
    "artifact": ("type", "name"),
    "use_artifact": ("type", "name", "id"),
    "environment": ("host", "os", "python", "cpu_count", "gpu_type"),
    "telemetry": ("cli_version", "platform"),
    "tbrecord": ("log_dir",),
}
"""What tells one record of a kind from another, where it is not a list of values."""


def record_text(ordinal: int, record: Any) -> str:
    """The stanza of the `ordinal`-th record (1 is the first); ends with a newline."""
    kind, body = record_body(record)
    body = body or {}
    heading = f"{ordinal}  {kind}  {digest(kind, body)}".rstrip()
    return "\n".join([heading, *table(_leaves(body)), ""])


def record_fields(record: Any) -> list[str]:
    """A line for each value of the record, without the heading."""
    return list(table(_leaves(record_body(record)[1] or {}), indent=""))


def record_digest(record: Any, limit: int = _DIGEST, *, brief: bool = False) -> str:
    """`digest` of a record; of many values only as many are looked at as are shown. `brief`: numbers are rounded."""
    kind = records.kind(record)
    lists = _LISTS.get(kind)
    if lists is None:
        return digest(kind, record_body(record)[1] or {}, limit)
    message = getattr(record, kind)
    parts = [f"step {message.step.num}"] if kind == "history" and message.HasField("step") else []
    for name in lists:
        items = getattr(message, name)
        if logged := _logged(items, limit, brief) or _logged(items, limit, brief, internal=True):
            parts.append(f"without {logged}" if name == "remove" else logged)
    return _shortened(" · ".join(parts), limit)


def digest(kind: str, body: dict[str, Any], limit: int = _DIGEST) -> str:
    """One short line that tells this record from others of its kind, safe to print."""
    if kind in _FACTS:
        values = dict(_leaves(body))
        text = " · ".join(_text(values[name]).strip() for name in _FACTS[kind] if values.get(name) not in (None, ""))
    elif kind == "files":
        text = ", ".join(str(file.get("path", "")) for file in body.get("files", []))
    else:
        items = body.get("item", body.get("update", {}))
        pairs = items.items() if isinstance(items, dict) else []
        logged = [f"{key} {_text(value)}" for key, value in pairs if not key.startswith("_")]
        step = body.get("step", {}).get("num") if kind == "history" else None
        text = " · ".join(part for part in (f"step {step}" if step is not None else "", ", ".join(logged)) if part)
    return _shortened(text, limit)


def _logged(items: Sequence[Any], limit: int, brief: bool, internal: bool = False) -> str:
    """Names and values of items, up to about `limit` characters; of what people logged, or of `internal` values."""
    found: list[str] = []
    length = 0
    if not items:
        return ""
    typed = "value" in items[0].DESCRIPTOR.oneofs_by_name
    nests = hasattr(items[0], "nested_key")
    for item in items:
        nested = item.nested_key if nests else ()
        key = ".".join(nested) if nested else item.key
        if key.startswith("_") is not internal:
            continue
        text = item.value_json
        if not _PLAIN(text):
            form = item.WhichOneof("value") if typed else None
            text = _text(typed_value(item, form)) if form is not None or text else ""
        elif brief and len(text) > _BRIEF + 2 and "." in text:
            text = f"{float(text):.{_BRIEF}g}"
        if text:
            key = f"{key} {text}"
        found.append(key)
        length += len(key) + 2
        if length > limit:
            break
    return ", ".join(found)


def _shortened(text: str, limit: int) -> str:
    text = clean(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def table(rows: Iterable[tuple[str, Any]], indent: str = "  ") -> Iterator[str]:
    """A line for each key with its value, the values below each other."""
    cleaned = [(clean(key), clean(_text(value))) for key, value in rows]
    width = min(max((len(key) for key, _ in cleaned), default=0), 48)
    for key, value in cleaned:
        yield f"{indent}{key:<{width}}  {value}".rstrip()


def _leaves(body: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Dotted key and value of every leaf; lists of objects are counted with `[i]`. What lies very deep is one leaf."""
    if depth == _DEEPEST:
        yield prefix, body
    elif isinstance(body, dict):
        for key in sorted(body):
            yield from _leaves(body[key], f"{prefix}.{key}" if prefix else key, depth + 1)
        if not body and prefix:
            yield prefix, body
    elif isinstance(body, list) and any(isinstance(one, dict) for one in body):
        for i, one in enumerate(body):
            yield from _leaves(one, f"{prefix}[{i}]", depth + 1)
    else:
        yield prefix, body


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dump(value)
