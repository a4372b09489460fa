"""Bytes of one record → a protobuf message, of classes made at run time from the table of the recorder.

The classes live in a descriptor pool of their own, so that neither an installed `wandb` nor another copy of its
messages can clash with them, and they need no generated code, so that any protobuf from 4.25 on will do.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from recorder.transaction_log import schema

__all__ = ["PACKAGE", "DecodeError", "kind", "message_class", "message_of", "parse"]

PACKAGE = "leet_log"

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {name: getattr(_Field, f"TYPE_{name.upper()}") for name in schema.SCALARS}


def parse(payload: bytes) -> Any:
    """The `Record` message in `payload`. Raises DecodeError when the bytes are none."""
    try:
        return _record().FromString(payload)
    except (UnicodeDecodeError, RecursionError) as error:  # what the pure-Python protobuf raises for bad text
        raise DecodeError(str(error)) from error


def kind(record: Any) -> str:
    """Which record it is: the name of the field that is set in `Record`, `unknown` where there is none."""
    return record.WhichOneof("record_type") or "unknown"


@cache
def message_class(name: str) -> type[Message]:
    """The class of a message of the table."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


def message_of(kind: str) -> Any:
    """The class of what a record of this kind holds; `Record` itself for a kind that is not known."""
    field = _record().DESCRIPTOR.fields_by_name.get(kind)
    return message_class(field.message_type.name) if field is not None else _record()


@cache
def _record() -> Any:
    return message_class("Record")


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_file().SerializeToString())
    return pool


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="leet_log.proto", package=PACKAGE, syntax="proto3")
    for name, values in schema.ENUMS.items():
        # Values of proto enums are siblings of their enum, so each enum gets a message around it as its own scope.
        scope = file.message_type.add(name=f"{name}Scope")
        enum = scope.enum_type.add(name=name)
        for label, number in values.items():
            enum.value.add(name=label, number=number)
    for name, fields in schema.messages().items():
        message = file.message_type.add(name=name)
        for field in fields:
            _add_field(message, field)
        for field in fields:
            if field.optional:  # proto3 presence is a oneof of one, and these come after the real ones
                message.field[fields.index(field)].oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")
    return file


def _add_field(message: descriptor_pb2.DescriptorProto, field: schema.Field) -> None:
    added = message.field.add(name=field.name, number=field.number)
    added.label = _Field.LABEL_REPEATED if field.repeated or field.map_key else _Field.LABEL_OPTIONAL
    if field.map_key:
        entry = message.nested_type.add(name=_entry_name(field.name))
        entry.options.map_entry = True
        _add_field(entry, schema.Field(1, "key", field.map_key))
        _add_field(entry, schema.Field(2, "value", field.kind))
        added.type = _Field.TYPE_MESSAGE
        added.type_name = f".{PACKAGE}.{message.name}.{entry.name}"
        return
    if field.kind in _SCALARS:
        added.type = _SCALARS[field.kind]
    elif field.kind in schema.ENUMS:
        added.type = _Field.TYPE_ENUM
        added.type_name = f".{PACKAGE}.{field.kind}Scope.{field.kind}"
    else:
        added.type = _Field.TYPE_MESSAGE
        added.type_name = f".{PACKAGE}.{field.kind}"
    added.proto3_optional = field.optional
    if field.oneof:
        names = [declared.name for declared in message.oneof_decl]
        if field.oneof not in names:
            message.oneof_decl.add(name=field.oneof)
            names.append(field.oneof)
        added.oneof_index = names.index(field.oneof)


def _entry_name(field: str) -> str:
    return "".join(part.capitalize() for part in field.split("_")) + "Entry"
