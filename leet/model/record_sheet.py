"""What is shown of one record: its line in a list, and all of it in one of three forms.

fields      loss      0.25          a line for each value, keys dotted: what `leet inspect` prints
protobuf    item { key: "loss" … }  the message as it was written, field by field
json        {"history": …}          the object that `leet inspect --json` prints, with one line per value
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from leet.model.json_text import dump
from leet.model.record_object import record_body, record_line
from leet.model.record_text import record_digest, record_fields
from leet.model.safe_text import clean
from leet.model.units import format_bytes
from leet.reading import records

Form = Literal["fields", "protobuf", "json"]
FORMS: tuple[Form, ...] = ("fields", "protobuf", "json")

DIGEST = 120
"""Characters of the line in a list."""
_HEX_WIDTH = 8
HEX_BYTES = 512
"""Bytes of a damaged range that are shown."""


def digest_of(payload: bytes | None) -> str:
    """One line of at most `DIGEST` characters, safe to show."""
    if payload is None:
        return "(no longer where it was)"
    try:
        return record_digest(records.parse(payload), DIGEST, brief=True)
    except records.DecodeError as error:
        return clean(f"cannot be decoded: {error}")[:DIGEST]


def sheet_of(payload: bytes | None, form: Form) -> list[str]:
    """The lines of a record, safe to show."""
    if payload is None:
        return ["The log has changed: this record is no longer where it was."]
    try:
        record = records.parse(payload)
    except records.DecodeError as error:
        return [clean(f"This record cannot be decoded: {error}"), "", *_hex(payload)]
    if form == "json":
        kind, body = record_body(record)
        return dump({kind: body}, "  ").split("\n")
    if form == "protobuf":
        from google.protobuf import text_format  # only for those who ask for it

        text = text_format.MessageToString(record, as_utf8=True)
        return clean(text.rstrip("\n"), keep_newlines=True).split("\n")
    return record_fields(record)


def json_of(number: int, payload: bytes | None) -> str:
    """The line of `leet inspect --json`; empty where there is none."""
    try:
        return record_line(number, records.parse(payload)) if payload is not None else ""
    except records.DecodeError:
        return ""


def damage_sheet(reason: str, offset: int, length: int, data: bytes) -> list[str]:
    """What there is to say of a range that could not be read, with its first bytes."""
    return [
        f"{format_bytes(length)} could not be read: {clean(reason)}.",
        "",
        f"offset  {offset}",
        f"length  {length}",
        f"up to   {offset + length}",
        "",
        "Records before and after it are whole.",
        "",
        *_hex(data[:HEX_BYTES], offset),
        *(["…"] if length > HEX_BYTES else []),
    ]


def _hex(data: bytes, offset: int = 0) -> Iterator[str]:
    for at in range(0, min(len(data), HEX_BYTES), _HEX_WIDTH):
        part = data[at : at + _HEX_WIDTH]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        yield f"{offset + at:>8}  {part.hex(' '):<{3 * _HEX_WIDTH}} {shown}"
