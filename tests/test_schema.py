"""The table of records against the descriptors of the installed SDK, which has the last word."""

from __future__ import annotations

from typing import Any

import pytest

from leet.reading import records
from recorder.transaction_log import schema

pb = pytest.importorskip("wandb.proto.wandb_internal_pb2", reason="the wandb package is not installed")


def reachable(official: Any, ours: str, found: dict[str, tuple[Any, str]]) -> dict[str, tuple[Any, str]]:
    """Every message below `official`, with the name of its counterpart in the table."""
    if ours in found:
        return found
    found[ours] = (official, official.full_name)
    counterparts = {field.name: field.kind for field in schema.messages()[ours] if field.map_key is None}
    for field in official.fields:
        if field.message_type and counterparts.get(field.name) in schema.messages():
            reachable(field.message_type, counterparts[field.name], found)
        elif field.message_type and field.message_type.GetOptions().map_entry:
            value = field.message_type.fields_by_name["value"]
            kind = next(f.kind for f in schema.messages()[ours] if f.name == field.name)
            if value.message_type:
                reachable(value.message_type, kind, found)
    return found


PAIRS = reachable(pb.Record.DESCRIPTOR, "Record", {})


def test_every_message_of_the_table_is_part_of_a_record() -> None:
    assert set(PAIRS) == set(schema.messages())


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_fields_are_those_of_the_sdk(name: str) -> None:
    official = PAIRS[name][0]
    made: Any = records.message_class(name).DESCRIPTOR
    left_out = {"_info"} | ({"request"} if name == "Record" else set())
    assert {f.name for f in made.fields} == {f.name for f in official.fields} - left_out
    for field in made.fields:
        twin = official.fields_by_name[field.name]
        where = f"{official.full_name}.{field.name}"
        assert field.number == twin.number, where
        assert field.type == twin.type, where
        assert is_repeated(field) == is_repeated(twin), where
        assert field.has_presence == twin.has_presence, where
        assert oneof(field) == oneof(twin), where
        if field.enum_type:
            ours = {value.name: value.number for value in field.enum_type.values}
            assert ours == {value.name: value.number for value in twin.enum_type.values}, where
        if field.message_type and field.message_type.GetOptions().map_entry:
            for part in ("key", "value"):
                a, b = field.message_type.fields_by_name[part], twin.message_type.fields_by_name[part]
                assert (a.number, a.type) == (b.number, b.type), where


def is_repeated(field: Any) -> bool:
    """Protobuf before 6.31 has only the label, and newer ones warn of it."""
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED)


def oneof(field: Any) -> str | None:
    return field.containing_oneof.name if field.containing_oneof else None


def test_a_record_of_the_sdk_survives_the_classes_made_here() -> None:
    official = pb.Record(num=7)
    official.run.run_id = "r"
    official.run.tags.extend(["a", "b"])
    official.run.telemetry.imports_init.torch = True
    official.run.start_time.seconds = 5
    made = records.parse(official.SerializeToString())
    assert records.kind(made) == "run"
    assert pb.Record.FromString(made.SerializeToString()) == official
