"""`leet export`: every value comes back from the table as it was logged, whatever the log has been through."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import WandbInspect, corpus_logs
from example_run import START, ExampleRun
from hypothesis import given
from hypothesis import strategies as st
from terminals import PseudoTerminal

from leet.output import export, export_formats, export_rows, plot
from leet.output.export_formats import Csv
from leet.output.export_rows import HistoryTable, LogChanged
from leet.reading import tail
from leet.reading.batch import Batch
from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, history_record

ROOT = Path(__file__).parents[1]
ROW_COLUMNS = ["_step", "_runtime", "_timestamp"]


def exported(capfdbinary: Any, *arguments: object) -> str:
    """What the command prints; it must succeed."""
    assert export.main([str(argument) for argument in arguments]) == 0
    return capfdbinary.readouterr().out.decode()


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def write_log(path: Path, payloads: list[bytes]) -> Path:
    data = bytearray(HEADER)
    for payload in payloads:
        data += frame(payload, len(data))
    path.write_bytes(data)
    return path


def logged(values: dict[str, Any], step: int | None) -> bytes:
    texts = {**values, "_runtime": 1.5 * (step or 0), "_timestamp": START + 0.25 * (step or 0)}
    if step is not None:
        texts["_step"] = step
    return history_record([((key,), json.dumps(value, ensure_ascii=False)) for key, value in texts.items()], step)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[ExampleRun]:
    example = ExampleRun(tmp_path)
    yield example
    example.writer.close()


# --- every value comes back

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.one_of(TEXT, st.just("longer than the key table takes " * 8)).filter(lambda name: name not in ROW_COLUMNS)
VALUES = st.one_of(
    st.floats(),
    st.floats(-1, 1),
    st.integers(),
    st.integers(-(1 << 70), 1 << 70),
    st.integers(-3, 3),
    st.booleans(),
    st.none(),
    TEXT,
    st.lists(st.integers(), max_size=3),
)
ROWS = st.lists(st.dictionaries(NAMES, VALUES, max_size=5), max_size=8)


def same(cell: str, value: Any) -> bool:
    """Whether a cell is the very value that was logged, and spelt as it should be."""
    if value is None:
        return cell == ""
    if isinstance(value, bool):
        return cell == ("true" if value else "false")
    if isinstance(value, int):
        return cell == str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return cell == ("NaN" if value != value else "Infinity" if value > 0 else "-Infinity")
        return cell == repr(value)
    return cell == (value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))


@given(ROWS)
def test_csv_brings_back_every_value(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    log = write_log(tmp_path_factory.mktemp("log") / "run-x.wandb", [logged(row, i) for i, row in enumerate(rows)])
    out = log.with_suffix(".csv")
    assert export.main([str(log), "-o", str(out)]) == 0
    header, *lines = csv.reader(io.StringIO(out.read_bytes().decode(), newline=""))
    assert header[:3] == ROW_COLUMNS
    assert sorted(header[3:]) == sorted({name for row in rows for name in row})
    assert len(lines) == len(rows)
    for i, (line, row) in enumerate(zip(lines, rows, strict=True)):
        expected = {**row, "_step": i, "_runtime": 1.5 * i, "_timestamp": START + 0.25 * i}
        for name, cell in zip(header, line, strict=True):
            assert same(cell, expected.get(name)), (name, cell, expected.get(name))


@given(ROWS)
def test_json_lines_bring_back_every_value(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    log = write_log(tmp_path_factory.mktemp("log") / "run-x.wandb", [logged(row, i) for i, row in enumerate(rows)])
    out = log.with_suffix(".jsonl")
    assert export.main([str(log), "-o", str(out)]) == 0
    objects = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(objects) == len(rows)
    for i, (found, row) in enumerate(zip(objects, rows, strict=True)):
        expected = {**row, "_step": i, "_runtime": 1.5 * i, "_timestamp": START + 0.25 * i}
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            if isinstance(value, float) and not math.isfinite(value):
                value = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
            if not isinstance(value, list):  # integers beyond 64 bits are rounded inside lists
                assert found[name] == value, name
                assert type(found[name]) is type(value)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("1e+22", "1e+22"),
        ("1e+06", "1000000.0"),
        ("1.7960019837405906e+09", "1796001983.7405906"),
        ("0.00001", "1e-05"),
        ("0.10", "0.1"),
        ("-0", "-0.0"),
        ("0", "0"),
        ("1E3", "1000.0"),
        ("1e999", "Infinity"),
        ("18446744073709551616", "18446744073709551616"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("1,2", "1,2"),
        ("1]", "1]"),
        ("[1", "[1"),
        ('"a\\u0000b"', "a\x00b"),
        ('"\\ud800"', "?"),
        ("[1, 2.50,NaN]", "[1,2.5,NaN]"),
        ("nonsense", "nonsense"),
    ],
)
def test_texts_of_other_writers_have_the_value_that_they_spell(
    tmp_path: Path, capfdbinary: Any, text: str, cell: str
) -> None:
    items = [(("a",), "1"), (("m",), text), (("z",), "0.5")]
    log = write_log(tmp_path / "run-x.wandb", [history_record(items, step) for step in range(3)])
    rows = rows_of(exported(capfdbinary, log))
    assert [(row["_step"], row["a"], row["m"], row["z"]) for row in rows] == [
        (str(i), "1", cell, "0.5") for i in range(3)
    ]


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda log: log.parent.name)
def test_real_logs_agree_with_what_is_drawn(log: Path, capfdbinary: Any) -> None:
    text = exported(capfdbinary, log)
    rows = rows_of(text)
    at = 0
    for batch in tail.read(log):
        assert isinstance(batch, Batch)
        history = batch.history
        if history is None:
            continue
        part = rows[at : at + len(history)]
        assert [float(row["_step"]) for row in part] == history.steps.tolist()
        for label, column in (("_runtime", history.runtimes), ("_timestamp", history.timestamps)):
            np.testing.assert_array_equal([float(row[label] or "nan") for row in part], column)
        for name, places, values in history.columns.items():
            cells = [part[row][name] for row in places.tolist()]
            numbers = [float({"true": "1", "false": "0"}.get(cell, cell)) for cell in cells]
            np.testing.assert_array_equal(numbers, values, err_msg=name)
        at += len(history)
    assert at == len(rows)


@pytest.mark.parametrize("case", ["scalars", "typed", "media", "define_metric"])
def test_real_logs_agree_with_the_reference_reader(
    corpus: Path, wandb_inspect: WandbInspect, capfdbinary: Any, case: str
) -> None:
    log = next(path for path in corpus_logs() if path.is_relative_to(corpus / case))
    shown = wandb_inspect(log)

    def number(digits: str) -> int | float:  # the reference spells great floats without an exponent
        return int(digits) if -(1 << 63) <= int(digits) < 1 << 63 else float(digits)

    records = [json.loads(line, parse_int=number) for line in shown.stdout.splitlines()]
    theirs = [record["history"]["item"] for record in records if record["type"] == "history"]
    ours = [json.loads(line) for line in exported(capfdbinary, log, "--format", "jsonl").splitlines()]
    if case == "typed":  # which the reference prints as a list of items
        assert len(ours) == len(theirs)
    else:
        assert ours == theirs


def test_columns_are_in_natural_order_and_rows_without_a_value_have_an_empty_cell(
    run: ExampleRun, capfdbinary: Any
) -> None:
    run.row({"layer.10": 1, "layer.2": 2, "Alpha": 3})
    run.row({})
    run.row({"beta": "", "layer.2": None})
    run.writer.close()
    lines = exported(capfdbinary, run.log).splitlines()
    assert lines[0] == "_step,_runtime,_timestamp,Alpha,beta,layer.2,layer.10"
    assert [line.split(",", 3)[3] for line in lines[1:]] == ["3,,2,1", ",,,", ',"",,']


def test_nested_objects_become_columns_under_dotted_names(tmp_path: Path, capfdbinary: Any) -> None:
    """Objects in the text of a value, as old writers have them, beside paths of several parts."""
    items = [(("n",), '{"b":{"c":1,"d":{}},"big":9007199254740993}'), (("p", "q"), "2")]
    log = write_log(tmp_path / "run-x.wandb", [history_record(items, 0)])
    [row] = rows_of(exported(capfdbinary, log))
    assert {k: v for k, v in row.items() if k[0] != "_"} == {
        "n.b.c": "1",
        "n.b.d": "{}",
        "n.big": "9007199254740993",
        "p.q": "2",
    }


@pytest.mark.parametrize("format_name", ["csv", "jsonl"])
def test_of_two_values_under_one_name_the_last_counts(tmp_path: Path, capfdbinary: Any, format_name: str) -> None:
    """A dot in a name makes two paths one."""
    rows = [[(("n.a",), "1"), (("n", "a"), "2"), (("z",), "0")], [(("n", "a"), "3"), (("z",), "0"), (("n.a",), "4")]]
    log = write_log(tmp_path / "run-x.wandb", [history_record(items, i) for i, items in enumerate(rows)])
    text = exported(capfdbinary, log, "--format", format_name)
    found = rows_of(text) if format_name == "csv" else [json.loads(line) for line in text.splitlines()]
    assert [str(row["n.a"]) for row in found] == ["2", "4"]


def test_rows_without_a_step_are_counted_on(tmp_path: Path, capfdbinary: Any) -> None:
    payloads = [
        history_record([(("a",), "1")], None),
        history_record([(("a",), "1"), (("_step",), "7")], 3),
        history_record([(("a",), "1"), (("_step",), "NaN")], None),
        history_record([(("a",), "1")], 20),
    ]
    log = write_log(tmp_path / "run-x.wandb", payloads)
    assert [row["_step"] for row in rows_of(exported(capfdbinary, log))] == ["0", "7", "8", "20"]


def test_a_wide_table_is_laid_out_in_parts(run: ExampleRun, capfdbinary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(50):
        run.row({f"m{i % 7}": i, "text": "a,b" if i % 3 else 0.5})
    run.writer.close()
    whole = exported(capfdbinary, run.log)
    monkeypatch.setattr(export_formats, "_CELLS", 30)
    assert exported(capfdbinary, run.log) == whole
    assert len(whole.splitlines()) == 51


def test_pieces_of_a_log_join_without_a_seam(
    run: ExampleRun, capfdbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(400):
        run.row({"loss": 1 / (i + 1), "text": "é" * (i % 50)})
    run.writer.close()
    whole = exported(capfdbinary, run.log)
    monkeypatch.setattr(export_rows, "_PIECE", 777)
    assert exported(capfdbinary, run.log) == whole


# --- system metrics


def test_system_metrics_are_one_row_for_each_sample(corpus: Path, capfdbinary: Any) -> None:
    log = next(path for path in corpus_logs() if path.is_relative_to(corpus / "stats"))
    rows = rows_of(exported(capfdbinary, log, "--system"))
    assert list(rows[0])[:2] == ["_timestamp", "_runtime"]
    [batch] = [b for b in tail.read(log) if isinstance(b, Batch) and b.system is not None]
    assert batch.system is not None
    assert [float(row["_timestamp"]) for row in rows] == batch.system.timestamps.tolist()
    assert all(0 <= float(row["_runtime"]) < 60 for row in rows)
    for name, places, values in batch.system.columns.items():
        assert [float(rows[i][name]) for i in places.tolist()] == values.tolist()
    assert rows[0]["cpu"] == ""  # the first sample has none


def test_system_metrics_can_be_chosen(corpus: Path, capfdbinary: Any) -> None:
    text = exported(capfdbinary, corpus / "stats", "--system", "-m", "disk.*")
    header = text.splitlines()[0].split(",")
    assert header[2:]
    assert all(name.startswith("disk.") for name in header[2:])


# --- patterns


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        (["loss"], ["train/loss", "val/loss", "val/loss_ema"]),
        (["train/*"], ["train/acc", "train/loss"]),
        (["*LOSS"], ["train/loss", "val/loss", "val/loss_ema"]),
        (["loss$"], ["train/loss", "val/loss"]),
        (["^val/.*a$", "acc"], ["train/acc", "val/loss_ema"]),
        (["w(1)"], ["w(1)"]),
        (["layer.?/w"], ["layer.0/w"]),
        (["nothing", "acc"], ["train/acc"]),
    ],
)
def test_patterns(run: ExampleRun, capfdbinary: Any, patterns: list[str], chosen: list[str]) -> None:
    run.row(dict.fromkeys(("train/loss", "train/acc", "val/loss", "val/loss_ema", "trainer", "layer.0/w", "w(1)"), 1.0))
    run.row({"other": 2})
    run.writer.close()
    options = [option for pattern in patterns for option in ("-m", pattern)]
    lines = exported(capfdbinary, run.log, *options).splitlines()
    assert lines[0].split(",") == [*ROW_COLUMNS, *chosen]
    assert len(lines) == 2


@pytest.mark.parametrize("piece", [export_rows._PIECE, 500])
def test_of_chosen_metrics_only_rows_that_have_one(
    run: ExampleRun, capfdbinary: Any, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(export_rows, "_PIECE", piece)
    for i in range(100):
        run.row({"loss": i} | ({"val": i / 2, "text": "x"} if i % 40 == 5 else {}))
    run.row({"loss": 1, "val": None})
    run.writer.close()
    rows = rows_of(exported(capfdbinary, run.log, "-m", "val"))
    assert [(row["_step"], row["val"]) for row in rows] == [("5", "2.5"), ("45", "22.5"), ("85", "42.5"), ("100", "")]
    rows = [json.loads(line) for line in exported(capfdbinary, run.log, "-m", "val", "--format", "jsonl").splitlines()]
    assert [row["_step"] for row in rows] == [5, 45, 85, 100]
    assert len(rows_of(exported(capfdbinary, run.log, "-m", "val", "-m", "loss"))) == 101
    assert len(rows_of(exported(capfdbinary, run.log))) == 101


def test_of_chosen_system_metrics_only_samples_that_have_one(run: ExampleRun, capfdbinary: Any) -> None:
    for i in range(6):
        values = {"cpu": i} | ({"gpu.0.temp": 40 + i} if i % 3 == 0 else {})
        item = [{"key": key, "value_json": str(value)} for key, value in values.items()]
        run.record("stats", {"timestamp": {"seconds": 1_764_500_000 + i}, "item": item})
    run.writer.close()
    rows = rows_of(exported(capfdbinary, run.log, "--system", "-m", "gpu"))
    assert [row["gpu.0.temp"] for row in rows] == ["40", "43"]


def test_a_pattern_without_a_match_is_one_line_with_near_names(run: ExampleRun, capsys: Any) -> None:
    run.row({"train/loss": 1, "val/accuracy": 2, "odd\x1b[2J": 3})
    run.writer.close()
    assert export.main([str(run.log), "-m", "train/los5"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("leet export: no metric matches train/los5; there are train/loss")
    assert said.err.count("\n") == 1
    assert export.main([str(run.log), "-m", "zzzzz"]) == 1
    said = capsys.readouterr().err
    assert "val/accuracy" in said
    assert "\x1b" not in said


def test_a_pattern_that_is_none_is_wrong_usage(run: ExampleRun, capsys: Any) -> None:
    run.row({"a": 1})
    run.writer.close()
    assert export.main([str(run.log), "-m", "a("]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# --- logs that are damaged, unfinished or growing


def test_damage_is_skipped_and_said_in_one_line(tmp_path: Path, capfdbinary: Any) -> None:
    log = write_log(tmp_path / "run-x.wandb", [logged({"a": i, "pad": "x" * 500}, i) for i in range(300)])
    data = bytearray(log.read_bytes())
    for at in (9_000, 70_000):
        data[at] ^= 0xFF
    log.write_bytes(data)
    assert export.main([str(log)]) == 0
    said = capfdbinary.readouterr()
    assert said.err.startswith(b"leet export: 2 parts of the log were skipped, ")
    assert said.err.count(b"\n") == 1
    rows = rows_of(said.out.decode())
    assert 290 <= len(rows) < 300
    assert all(row["a"] == row["_step"] and len(row["pad"]) == 500 for row in rows)


def test_records_that_protobuf_refuses_are_skipped_and_counted(tmp_path: Path, capfdbinary: Any) -> None:
    not_utf8 = logged({"a": "@@"}, 1).replace(b'"@@"', b'"\xff\xff"')
    bad_key = logged({"@@@": 1}, 2).replace(b"@@@", b"\xff\xff\xff")
    log = write_log(
        tmp_path / "run-x.wandb", [logged({"a": 0}, 0), not_utf8, bad_key, b"\xff" * 9, logged({"a": 3}, 3)]
    )
    assert export.main([str(log)]) == 0
    said = capfdbinary.readouterr()
    assert [(row["_step"], row["a"]) for row in rows_of(said.out.decode())] == [("0", "0"), ("3", "3")]
    assert b"3 parts of the log were skipped" in said.err


def test_an_unfinished_log_is_exported_to_its_last_record(run: ExampleRun, capfdbinary: Any) -> None:
    for i in range(10):
        run.row({"a": i})
    run.writer.close()
    data = run.log.read_bytes()
    run.log.write_bytes(data[:-150])
    assert export.main([str(run.log)]) == 0
    said = capfdbinary.readouterr()
    rows = rows_of(said.out.decode())
    assert [row["a"] for row in rows] == [str(i) for i in range(len(rows))]
    assert len(rows) >= 8
    assert b"ends inside a record" in said.err


def test_an_empty_log_has_a_header_alone(tmp_path: Path, capfdbinary: Any) -> None:
    log = write_log(tmp_path / "run-x.wandb", [])
    assert export.main([str(log)]) == 0
    said = capfdbinary.readouterr()
    assert said.out == b"_step,_runtime,_timestamp\n"
    assert said.err == b"leet export: this log holds no metrics yet; --system exports what the machine did\n"
    assert export.main([str(log), "--system"]) == 0
    assert capfdbinary.readouterr().err == b"leet export: this log holds no system metrics yet\n"
    assert export.main([str(log), "-m", "loss"]) == 1
    assert b"holds no metrics yet" in capfdbinary.readouterr().err


def test_yet_is_said_of_live_runs_alone(run: ExampleRun, capfdbinary: Any) -> None:
    run.flush()
    assert export.main([str(run.log), "-m", "loss"]) == plot.main([str(run.log), "loss"]) == 1
    assert capfdbinary.readouterr().err.count(b"holds no metrics yet;") == 2
    run.finish(0)
    assert export.main([str(run.log), "-m", "loss"]) == plot.main([str(run.log), "loss"]) == 1
    assert capfdbinary.readouterr().err.count(b"holds no metrics;") == 2


def test_what_is_written_after_the_first_pass_is_left_to_the_next_export(tmp_path: Path) -> None:
    log = write_log(tmp_path / "run-x.wandb", [logged({"a": i}, i) for i in range(4)])
    with open(log, "rb") as file:
        table = HistoryTable(file)
        assert table.names() == ["a"]
        with open(log, "ab") as more:
            more.write(frame(logged({"a": 4, "new": 1}, 4), log.stat().st_size))
        out = io.BytesIO()
        Csv().write(table, {name: i for i, name in enumerate([*ROW_COLUMNS, "a"])}, out)
    assert [row["a"] for row in rows_of(out.getvalue().decode())] == ["0", "1", "2", "3"]


def test_a_log_cut_short_between_the_passes_is_said(tmp_path: Path) -> None:
    log = write_log(tmp_path / "run-x.wandb", [logged({"a": i}, i) for i in range(4)])
    with open(log, "rb") as file:
        table = HistoryTable(file)
        table.names()
        os.truncate(log, 50)
        with pytest.raises(LogChanged, match="cut short"):
            list(table.rows({"_step": 0}))


def test_what_is_no_log_is_one_line(tmp_path: Path, capsys: Any) -> None:
    log = tmp_path / "run-x.wandb"
    log.write_bytes(b"GIF89a, certainly not a log")
    assert export.main([str(log)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "not a W&B log" in said.err
    assert said.err.count("\n") == 1
    assert export.main([str(tmp_path / "nowhere")]) == 1


def test_memory_does_not_grow_with_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_rows, "_PIECE", 64 * 1024)

    def peak(rows: int) -> int:
        payloads = [logged({f"m{k}": math.sin(i * k) for k in range(10)}, i) for i in range(rows)]
        log = write_log(tmp_path / f"run-{rows}.wandb", payloads)
        del payloads
        tracemalloc.start()
        assert export.main([str(log), "-o", os.devnull]) == 0
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(100)  # what is loaded once
    assert peak(4_000) < 1.5 * peak(800)


# --- where it goes


def test_the_file_appears_when_it_is_whole_and_keeps_its_permissions(
    run: ExampleRun, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run.row({"a": 1})
    run.writer.close()
    folder = run.directory / "out"
    folder.mkdir()
    out = folder / "table.csv"
    assert export.main([str(run.log), "-o", str(out)]) == 0
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~mask
    out.write_text("old")
    out.chmod(0o640)
    link = folder / "link.csv"
    link.symlink_to(out)

    with monkeypatch.context() as broken:

        def cut_short(self: HistoryTable, columns: object) -> Iterator[Any]:
            assert len(list(folder.iterdir())) == 3  # the other name, while it is written
            raise LogChanged("the log has been cut short")
            yield

        broken.setattr(HistoryTable, "rows", cut_short)
        assert export.main([str(run.log), "-o", str(link)]) == 1
    assert out.read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["link.csv", "table.csv"]

    assert export.main([str(run.log), "-o", str(link)]) == 0
    assert link.is_symlink()
    assert out.read_text().startswith("_step,")
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert capsys.readouterr().out == ""


def test_the_log_itself_is_never_written_over(run: ExampleRun, capsys: Any) -> None:
    run.row({"a": 1})
    run.writer.close()
    before = run.log.read_bytes()
    assert export.main([str(run.log), "-o", str(run.log)]) == 1
    assert run.log.read_bytes() == before
    assert "is the log itself" in capsys.readouterr().err


def test_a_directory_that_is_not_there_is_one_line(run: ExampleRun, capsys: Any) -> None:
    run.writer.close()
    target = run.directory / "no" / "t.csv"
    assert export.main([str(run.log), "-o", str(target)]) == 1
    assert capsys.readouterr().err == f"leet export: {target}: No such file or directory\n"


def test_the_name_of_the_file_chooses_the_format(run: ExampleRun) -> None:
    run.row({"a": 1})
    run.writer.close()
    out = run.directory / "t.jsonl"
    assert export.main([str(run.log), "-o", str(out)]) == 0
    assert json.loads(out.read_text())["a"] == 1
    assert export.main([str(run.log), "-o", str(out), "--format", "csv"]) == 0
    assert out.read_text().startswith("_step,")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "leet", "export", *map(str, arguments)]


def test_a_reader_that_goes_away_is_no_error(run: ExampleRun) -> None:
    for i in range(20_000):
        run.row({"a": i, "b": "x" * 50})
    run.writer.close()
    process = subprocess.Popen(
        command(run.log), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"_step,_runtime,_timestamp,a,b\n"
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.wait(timeout=60)
    process.stderr.close()


@pytest.mark.parametrize("format_name", ["csv", "jsonl"])
def test_a_terminal_gets_no_control_characters(run: ExampleRun, format_name: str) -> None:
    run.row({"text\x1b]0;owned\x07": "red\x1b[31m \u202e", "b": 1})
    run.writer.close()
    with PseudoTerminal(*command(run.log, "--format", format_name), size=(160, 10)) as terminal:
        assert terminal.end() == 0
    assert b"owned" in terminal.raw
    assert b"\x1b" not in terminal.raw
    assert b"\x07" not in terminal.raw
    assert "\u202e".encode() not in terminal.raw


def test_a_file_gets_control_characters_as_they_are(run: ExampleRun, capfdbinary: Any) -> None:
    run.row({"text": "red\x1b[31m\ttab"})
    run.writer.close()
    assert rows_of(exported(capfdbinary, run.log))[0]["text"] == "red\x1b[31m\ttab"


# --- Parquet


def test_parquet_brings_back_every_kind_of_value(run: ExampleRun) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow, which is optional, is not installed")
    run.row({"i": 2**53 + 1, "f": 0.1, "mixed": 1, "flag": True, "text": "a", "odd": 1, "huge": 1 << 64, "none": None})
    run.row({"i": -1, "f": math.inf, "mixed": 0.5, "text": "", "odd": "b", "list": [1, 2]})
    run.writer.close()
    out = run.directory / "t.parquet"
    assert export.main([str(run.log), "-o", str(out)]) == 0
    table = parquet.read_table(out)
    assert table.column_names[:3] == ROW_COLUMNS
    found = {name: table[name].to_pylist() for name in table.column_names}
    assert {name: str(table.schema.field(name).type) for name in ("i", "f", "mixed", "flag", "_step")} == {
        "i": "int64",
        "f": "double",
        "mixed": "double",
        "flag": "bool",
        "_step": "int64",
    }
    assert found["i"] == [2**53 + 1, -1]
    assert found["f"] == [0.1, math.inf]
    assert found["mixed"] == [1.0, 0.5]
    assert found["flag"] == [True, None]
    assert found["text"] == ["a", ""]
    assert found["odd"] == ["1", "b"]
    assert found["huge"] == ["18446744073709551616", None]
    assert found["list"] == [None, "[1,2]"]
    assert found["none"] == [None, None]


def test_parquet_without_its_library_says_how_to_get_it(
    run: ExampleRun, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run.writer.close()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    out = run.directory / "t.parquet"
    assert export.main([str(run.log), "-o", str(out)]) == 1
    said = capsys.readouterr().err
    assert "pip install 'leet-tui[parquet]'" in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_unusual_envelopes_and_typed_values(tmp_path: Path, capfdbinary: Any) -> None:
    typed = encode(
        "Record",
        {
            "uuid": "not where writers put it",
            "history": {
                "item": [
                    {"nested_key": ["i"], "value_json": "1", "integer": -(2**60) - 1},
                    {"key": "f", "number": 1.0},
                    {"key": "b", "boolean": True},
                    {"key": "t", "text": "1"},
                    {"key": "n", "none": 0},
                    {"key": "j", "json": '{"x":[1,2]}'},
                ],
                "step": {"num": 4},
            },
        },
    )
    log = write_log(tmp_path / "run-x.wandb", [logged({"i": 0}, 3), typed])
    row = rows_of(exported(capfdbinary, log))[1]
    assert row == {
        "_step": "4",
        "_runtime": "",
        "_timestamp": "",
        "b": "true",
        "f": "1.0",
        "i": str(-(2**60) - 1),
        "j.x": "[1,2]",
        "n": "",
        "t": "1",
    }


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_step_of_more_digits_than_any_float_holds_is_exported_as_it_is(
    tmp_path: Path, capfdbinary: Any, form: str
) -> None:
    step = "9" * 400
    rows = [history_record([(("a",), "1"), (("_step",), step)], 0), history_record([(("a",), "2")], 0)]
    log = write_log(tmp_path / "run-a.wandb", rows)
    assert step in exported(capfdbinary, log, "--format", form)
