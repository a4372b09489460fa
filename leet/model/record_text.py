"""Records as text for people: a heading with a digest, then every value on a line of its own.

    12  history  step 3 · loss 0.25, acc 0.5
      item.acc   0.5
      item.loss  0.25
      step.num   3

Nothing of it can move the cursor: control characters of a log are shown, not sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from leet.model.json_text import dump
from leet.model.record_object import record_body
from leet.model.safe_text import clean

_DIGEST = 100
"""Characters of a digest."""
_DEEPEST = 64

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


def digest(kind: str, body: dict[str, Any]) -> str:
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
    text = clean(text)
    return text if len(text) <= _DIGEST else text[: _DIGEST - 1] + "…"


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
