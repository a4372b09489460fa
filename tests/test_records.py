"""The message classes that are made at run time: what they read, keep and refuse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import corpus_logs
from hypothesis import given
from hypothesis import strategies as st

from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord
from recorder.transaction_log import schema
from recorder.transaction_log.wire import encode


def payloads(path: Path) -> list[bytes]:
    reader = BlockReader()
    outcomes = reader.feed(path.read_bytes()) + reader.finish()
    return [outcome.payload for outcome in outcomes if isinstance(outcome, RawRecord)]


@pytest.mark.parametrize("path", corpus_logs(), ids=lambda path: path.parent.name)
def test_real_records_are_known_and_lose_nothing(path: Path) -> None:
    for payload in payloads(path):
        record = records.parse(payload)
        assert records.kind(record) != "unknown"
        assert sorted(record.SerializeToString()) == sorted(payload)  # unknown fields move, and none goes


@pytest.mark.parametrize("name", sorted(schema.messages()))
def test_there_is_a_class_for_every_message(name: str) -> None:
    made = records.message_class(name)()
    assert made.DESCRIPTOR.full_name == f"{records.PACKAGE}.{name}"
    assert [field.name for field in made.DESCRIPTOR.fields] == [field.name for field in schema.messages()[name]]


def test_the_kind_is_the_field_that_is_set() -> None:
    assert records.kind(records.parse(encode("Record", {"preempting": {}}))) == "preempting"
    assert records.kind(records.parse(b"")) == "unknown"
    assert records.kind(records.parse(b"\xa2\x06\x02\x08\x01")) == "unknown"


@pytest.mark.parametrize("payload", [b"\x12\x05\x0a\x03\x0a\x01\xff", b"\x12\x7f", b"\xff" * 12])
def test_what_is_no_record_is_refused_in_one_way(payload: bytes) -> None:
    with pytest.raises(records.DecodeError):
        records.parse(payload)


@given(st.binary(max_size=200))
def test_noise_is_refused_or_read_but_never_another_exception(noise: bytes) -> None:
    try:
        record = records.parse(noise)
    except records.DecodeError:
        return
    assert records.kind(record) in {"unknown", *(field.name for field in schema.messages()["Record"])}


def test_the_classes_live_beside_those_of_wandb() -> None:
    pytest.importorskip("wandb.proto.wandb_internal_pb2", reason="the wandb package is not installed")
    program = "from leet.reading import records; records.parse(b''); import wandb.proto.wandb_internal_pb2"
    ours, theirs = program.rsplit("; ", 1)
    for code in (program, f"{theirs}; {ours}"):
        assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
