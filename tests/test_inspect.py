"""`leet inspect` against `wandb leet inspect` 0.31, file by file, and what it does beyond that."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from conftest import WandbInspect, corpus_logs
from hypothesis import strategies as st

from leet.model.json_text import dump, escaped, number
from leet.model.record_object import record_line
from leet.model.run import RunModel
from leet.output import bulk_records, bulk_summary, inspect
from leet.output.run_summary import RunSummary
from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord
from leet.reading.tail import read
from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, history_record, summary_record
from recorder.transaction_log.writer import LogWriter

MORE_RECORDS = {"old_0.17.5_core": "LEET cannot read blocks that are shifted by the header: it ends in the first"}

OTHER_SUMMARY = {
    "old_0.17.5_core": {"exit_code", "state", "step", "summary"},  # the same
    "old_0.12.21": {"console", "console_lines"},  # LEET does not show `output`, the console of old writers
    "console_redirect": {"console", "console_lines"},  # nor that of redirected file descriptors
    "console": {"console", "console_lines"},  # nor lines that were logged with `write_logs`
}
"""Case of the corpus → the keys of `--summary --json` in which LEET loses what the log holds."""

EXTRAS = {"skipped", "metrics", "points", "runtime"}


def case_of(path: Path) -> str:
    return path.parts[-4]


def leet(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert inspect.main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("path", corpus_logs(), ids=lambda path: path.parent.name)
def test_records_are_those_of_wandb(
    path: Path, wandb_inspect: WandbInspect, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = wandb_inspect(path).stdout.split(b"\n")[:-1]
    ours = leet(capsys, "--json", path).split("\n")[:-1]
    if case_of(path) in MORE_RECORDS:
        assert len(ours) > len(theirs)
        ours = ours[: len(theirs)]
    assert [json.loads(line) for line in ours] == [json.loads(line) for line in theirs]


@pytest.mark.parametrize("path", corpus_logs(), ids=lambda path: path.parent.name)
def test_summary_is_that_of_wandb(path: Path, wandb_inspect: WandbInspect, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = json.loads(wandb_inspect(path, "--summary").stdout)
    ours = json.loads(leet(capsys, "--summary", "--json", path))
    assert set(ours) == set(theirs) | EXTRAS
    assert {key for key in theirs if ours[key] != theirs[key]} == OTHER_SUMMARY.get(case_of(path), set())


def test_nothing_is_lost_behind_shifted_blocks(capsys: pytest.CaptureFixture[str], corpus: Path) -> None:
    (path,) = [path for path in corpus_logs() if case_of(path) == "old_0.17.5_core"]
    records = [json.loads(line) for line in leet(capsys, "--json", path).splitlines()]
    assert records[-1]["type"] == "footer"
    assert [r["exit"]["exit_code"] for r in records if r["type"] == "exit"] == [0]
    summary = json.loads(leet(capsys, "--summary", "--json", path))
    assert (summary["state"], summary["step"], summary["skipped"]) == ("finished", 20, [])


# --- logs made here -----------------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "run-made.wandb"


def write(path: Path, *records: bytes) -> None:
    data = bytearray(HEADER)
    for record in records:
        data += frame(record, len(data))
    path.write_bytes(data)


def run_record(**fields: Any) -> bytes:
    return encode("Record", {"run": {"run_id": "made", "project": "p", **fields}})


def printed(capsys: pytest.CaptureFixture[str], path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in leet(capsys, "--json", path).splitlines()]


def test_typed_values_have_a_place_of_their_own(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [
        {"nested_key": ["a", "b"], "integer": -5},
        {"nested_key": ["flag"], "boolean": False},
        {"nested_key": ["x"], "number": float("-inf")},
        {"key": "t", "text": "hé"},
        {"key": "j", "json": '[1,{"q":NaN}]'},
        {"key": "n", "none": 0},
        {"key": "both", "value_json": "1", "integer": 7},
    ]
    write(log, encode("Record", {"history": {"item": items, "step": {"num": 3}}}))
    (record,) = printed(capsys, log)
    assert record["history"] == {
        "item": {
            "a.b": -5,
            "flag": False,
            "x": "-Infinity",
            "t": "hé",
            "j": [1, {"q": "NaN"}],
            "n": None,
            "both": 7,
        },
        "step": {"num": 3},
    }


def test_a_removal_stays_a_list_of_keys(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log, summary_record([(("a",), "1")], removed=[("b", "c")]))
    (record,) = printed(capsys, log)
    assert record["summary"] == {"update": {"a": 1}, "remove": [{"nested_key": ["b", "c"]}]}


def test_records_that_say_nothing_known(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log, b"", b"\xa2\x06\x02\x08\x01", encode("Record", {"noop_link_artifact": {}, "num": 9}))
    assert printed(capsys, log) == [
        {"num": 1, "type": "unknown"},
        {"num": 2, "type": "unknown"},
        {"num": 3, "type": "noop_link_artifact", "noop_link_artifact": {}},
    ]


def test_what_is_skipped_is_said(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log, run_record(), history_record([(("loss",), "1")], 0), b"\x12\x05\x0a\x03\x0a\x01\xff")
    data = bytearray(log.read_bytes())
    data[len(HEADER) + 9] ^= 1
    log.write_bytes(data + b"\x01\x02\x03")
    assert inspect.main(["--json", str(log)]) == 0
    shown = capsys.readouterr()
    assert [json.loads(line)["type"] for line in shown.out.splitlines()] == ["history"]
    reasons = ["a wrong checksum", "bad record", "an unfinished end"]
    assert [line.split(": ")[2] for line in shown.err.splitlines()] == reasons
    summary = json.loads(leet(capsys, "--json", "--summary", log))
    assert [s["reason"].split(":")[0] for s in summary["skipped"]] == reasons
    assert sum(s["length"] for s in summary["skipped"]) < len(data)


def test_summary_counts_numbers_that_are_drawn(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[(("loss",), "1"), (("ok",), "true"), (("text",), '"x"'), (("_runtime",), f"{i}.5")] for i in range(3)]
    exit_record = encode("Record", {"exit": {"exit_code": 3, "runtime": 9}})
    write(log, run_record(), *(history_record(row, step) for step, row in enumerate(rows)), exit_record)
    summary = json.loads(leet(capsys, "--json", "--summary", log))
    assert (summary["metrics"], summary["points"], summary["runtime"]) == (2, 6, 9)
    assert (summary["state"], summary["exit_code"], summary["step"]) == ("failed", 3, 2)


@pytest.mark.parametrize("arguments", [[], ["--summary"], ["--json"], ["--summary", "--json"]])
def test_nothing_in_a_log_reaches_the_terminal_raw(
    arguments: list[str], log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "a\x1b[2J\x07\x9b31m\u202eb\r\x7f\x00\ud800"
    write(
        log,
        run_record(notes=evil, display_name=evil, tags=[evil]),
        history_record([((evil,), json.dumps(evil))], 0),
        summary_record([((evil, evil), json.dumps(evil))]),
        encode("Record", {"config": {"update": [{"key": evil, "value_json": json.dumps([evil])}]}}),
        encode("Record", {"output_raw": {"line": evil + "\n" + evil}}),
        encode("Record", {"files": {"files": [{"path": evil}]}}),
    )
    out = leet(capsys, *arguments, log)
    assert out.isprintable() is False  # newlines are there
    assert not set(out) & set("\x1b\x07\x9b\u202e\r\x7f\x00\ud800")


def test_text_names_every_record_and_value(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log, run_record(display_name="nice"), history_record([(("val", "loss"), "0.25")], 7))
    out = leet(capsys, log)
    assert "1  run  nice · made · p\n" in out
    assert "2  history  step 7 · val.loss 0.25\n  item.val.loss  0.25\n  step.num       7\n" in out


def test_text_summary_is_readable(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        log,
        run_record(display_name="nice", entity="me", config={"update": [{"key": "opt", "value_json": '{"lr": 0.1}'}]}),
        summary_record([(("loss",), "0.5")]),
        encode("Record", {"output_raw": {"line": "hel"}}),
        encode("Record", {"output_raw": {"line": "lo\nbar 1%\rbar 2%", "output_type": "STDERR"}}),
        encode("Record", {"exit": {"exit_code": 0}}),
    )
    out = leet(capsys, "--summary", log)
    for line in (
        "run      nice (made)",
        "project  me/p",
        "state    finished (exit code 0)",
        "  loss  0.5",
        "  opt.lr  0.1",
    ):
        assert line in out.split("\n"), line
    assert "[stderr] bar 2%" in out


def test_a_log_that_has_just_begun(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for start in (b"", HEADER[:3], HEADER):
        log.write_bytes(start)
        assert inspect.main([str(log)]) == 0
        shown = capsys.readouterr()
        assert (shown.out, shown.err.splitlines()[-1]) == ("", "leet inspect: no record yet")
        assert leet(capsys, "--json", log) == ""
        assert json.loads(leet(capsys, "--summary", "--json", log))["state"] == "unknown"


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"hello world", "not a W&B log"), (b":W&B\xe1\xbe\x01", "version 1"), (None, "no such file")],
)
@pytest.mark.parametrize("arguments", [[], ["--json"], ["--summary"]])
def test_what_cannot_be_read_is_one_line_and_exit_code_1(
    content: bytes | None, says: str, arguments: list[str], log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        log.write_bytes(content)
    assert inspect.main([*arguments, str(log)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert says in shown.err
    assert shown.err.count("\n") == 1


def test_arguments_that_exclude_each_other(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log)
    assert inspect.main(["--summary", "--follow", str(log)]) == 2
    assert "leave out one" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("1h30m", 5400), ("250ms", 0.25), ("0", 0), ("10m", 600)])
def test_durations(text: str, seconds: float) -> None:
    assert inspect.duration(text) == seconds


def test_following_prints_what_comes_until_the_exit(log: Path) -> None:
    writer = LogWriter(log, flush_interval=0.05)
    writer.append(run_record())
    writer.flush()
    command = [sys.executable, "-m", "leet", "inspect", "--json", "--follow", "--idle-timeout", "60s", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        guard = threading.Timer(60, process.kill)
        guard.start()
        assert json.loads(process.stdout.readline())["type"] == "run"
        writer.append(history_record([(("loss",), "1")], 0))
        assert json.loads(process.stdout.readline())["type"] == "history"
        writer.append_record("exit", {"exit_code": 0})
        writer.close()
        assert json.loads(process.stdout.readline())["type"] == "exit"
        assert process.wait(60) == 0
        guard.cancel()


def test_following_a_silent_log_ends(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log, run_record())
    out = leet(capsys, "--follow", "--idle-timeout", "10ms", "--json", log)
    assert json.loads(out)["type"] == "run"


@pytest.mark.parametrize("seconds", [2**63 - 1, -(2**63), 2**40, -(2**40), 10**15])
@pytest.mark.parametrize("arguments", [[], ["--json"], ["--summary"], ["--summary", "--json"]])
def test_no_time_is_too_strange(
    seconds: int, arguments: list[str], log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time = {"seconds": seconds, "nanos": -5}
    write(
        log,
        run_record(start_time=time),
        encode("Record", {"output_raw": {"line": "said\n", "timestamp": time}}),
        encode("Record", {"stats": {"timestamp": time, "item": [{"key": "cpu", "value_json": "5"}]}}),
        encode("Record", {"environment": {"os": "x", "started_at": time}}),
        history_record([(("_timestamp",), "3e19"), (("_runtime",), "NaN"), (("loss",), "1")], 0),
        encode("Record", {"exit": {"exit_code": 0, "runtime": -(2**31)}}),
    )
    assert "said" in leet(capsys, *arguments, log)


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--summary"], ["--summary", "--json"]])
def test_no_depth_is_too_great(arguments: list[str], log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for depth in (300, 900, 20_000):
        deep = '{"a":' * depth + "1" + "}" * depth
        write(
            log,
            run_record(config={"update": [{"key": "c", "value_json": deep}, {"key": "l", "value_json": f"[{deep}]"}]}),
            encode("Record", {"config": {"update": [{"nested_key": ["k"] * depth, "value_json": "1"}]}}),
            history_record([(("h",), deep), (("k",) * depth, "1"), (("loss",), "1")], 0),
            summary_record([(("h",), deep), (("k",) * depth, "1"), (("loss",), "7.25")]),
        )
        assert "7.25" in leet(capsys, *arguments, log)


def test_console_lines_stand_in_the_order_in_which_they_began(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pieces = [
        ("STDERR", "one"),
        ("STDOUT", "two\n"),
        ("STDOUT", "three\nfour"),
        ("STDERR", " more\nfive"),
        ("STDOUT", "\n"),
    ]
    made = [
        encode("Record", {"output_raw": {"line": text, "output_type": stream, "timestamp": {"seconds": place}}})
        for place, (stream, text) in enumerate(pieces)
    ]
    write(log, run_record(), *made)
    lines = json.loads(leet(capsys, "--summary", "--json", log))["console"]
    assert [line["line"] for line in lines] == ["one more", "two", "three", "four", "five"]
    assert [line["time"][17:19] for line in lines] == ["00", "01", "02", "02", "03"]


def test_the_text_of_a_summary_has_a_short_line_for_each_media_value(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    histogram = {"_type": "histogram", "bins": [i / 10 for i in range(65)], "values": [1] * 64}
    write(
        log,
        run_record(),
        summary_record([(("h",), json.dumps(histogram)), (("t", "_type"), '"table-file"'), (("t", "nrows"), "3")]),
    )
    lines = leet(capsys, "--summary", log).split("\n")
    assert "  h  histogram · 64 bins · 0 … 6.4" in lines
    assert "  t  table-file · 3×? cells" in lines
    assert json.loads(leet(capsys, "--summary", "--json", log))["summary"]["h"] == histogram


@pytest.mark.parametrize("path", corpus_logs(), ids=lambda path: path.parent.name)
def test_a_run_lasted_as_long_as_in_the_viewer(path: Path) -> None:
    model, summary = RunModel(path), RunSummary(path)
    for batch in read(path):
        model.apply(batch)
    inspect.summarise(path, summary)
    assert summary.to_json(0, 0)["runtime"] == pytest.approx(model.runtime)


def both_summaries(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The summary record by record, and the one from columns."""
    plain, bulk = RunSummary(path), RunSummary(path)
    inspect.summarise(path, plain)
    bulk_summary.summarise(path, bulk)
    both = plain.to_json(0, 0), bulk.to_json(0, 0)
    for summary in both:
        for skipped in summary["skipped"]:
            if skipped["reason"].startswith("bad"):  # protobuf names the message that it was asked for
                skipped["reason"] = "bad"
    return both


@pytest.mark.parametrize("path", corpus_logs(), ids=lambda path: path.parent.name)
def test_the_summary_from_columns_is_that_of_the_records(path: Path) -> None:
    plain, bulk = both_summaries(path)
    assert bulk == plain


values = st.sampled_from(["1", "-2.5", "NaN", "null", '"text"', '"3"', "true", '{"a": 1}', "[1, 2]", "{oops", ""])
keys = st.sampled_from(["loss", "a.b", "_runtime", "_step", "ü"]).map(lambda key: (key,)) | st.just(("a", "b"))
rows = st.lists(st.tuples(keys, values), max_size=5)
made_records = st.one_of(
    st.builds(history_record, rows, st.none() | st.integers(-3, 40)),
    st.builds(summary_record, rows, st.lists(keys, max_size=2)),
    st.builds(lambda line: encode("Record", {"output_raw": {"line": line}}), st.text("a\r\n", max_size=6)),
    st.sampled_from([b"", b"\x12\x05\x0a\x03\x0a\x01\xff", encode("Record", {"exit": {"exit_code": 4}})]),
    st.just(encode("Record", {"run": {"run_id": "r", "config": {"update": [{"key": "k", "value_json": "1"}]}}})),
)


@hypothesis.settings(max_examples=60)
@hypothesis.given(st.lists(made_records, max_size=30), st.integers(0, 2000))
def test_the_summary_from_columns_is_that_of_any_records(
    tmp_path_factory: pytest.TempPathFactory, made: list[bytes], flip: int
) -> None:
    path = tmp_path_factory.mktemp("any") / "run-any.wandb"
    write(path, *made)
    data = bytearray(path.read_bytes())
    if len(HEADER) <= flip < len(data):
        data[flip] ^= 0x10
        path.write_bytes(data)
    plain, bulk = both_summaries(path)
    assert bulk == plain


def both_prints(path: Path) -> tuple[tuple[str, list[int]], tuple[str, list[int]]]:
    """Lines and offsets of damage: record by record, and in bulk."""
    reader, texts, damage = BlockReader(), [], []
    for outcome in (*reader.feed(path.read_bytes()), *reader.finish()):
        try:
            assert isinstance(outcome, RawRecord)
            texts.append(record_line(len(texts) + 1, records.parse(outcome.payload)) + "\n")
        except (AssertionError, records.DecodeError):
            damage.append(outcome.offset)
    pieces = list(bulk_records.lines(path))
    bulk = "".join(line for lines, _ in pieces for line in lines)
    return ("".join(texts), damage), (bulk, [piece.offset for _, skipped in pieces for piece in skipped])


@pytest.mark.parametrize("path", corpus_logs(), ids=lambda path: path.parent.name)
def test_lines_in_bulk_are_those_of_the_records(path: Path) -> None:
    plain, bulk = both_prints(path)
    assert bulk == plain


spelt_values = values | st.floats().map(json.dumps) | st.integers(-(2**70), 2**70).map(json.dumps)
spelt_rows = st.lists(st.tuples(keys | st.just(("a\x7f", "")) | st.just(("x" * 200,)), spelt_values), max_size=5)


@hypothesis.settings(max_examples=60)
@hypothesis.given(
    st.lists(
        made_records
        | st.builds(history_record, spelt_rows, st.none() | st.integers(-3, 2**40))
        | st.builds(summary_record, spelt_rows, st.lists(keys, max_size=2)),
        max_size=30,
    ),
    st.integers(0, 2000),
)
def test_lines_in_bulk_are_those_of_any_records(
    tmp_path_factory: pytest.TempPathFactory, made: list[bytes], flip: int
) -> None:
    path = tmp_path_factory.mktemp("any") / "run-any.wandb"
    write(path, *made)
    data = bytearray(path.read_bytes())
    if len(HEADER) <= flip < len(data):
        data[flip] ^= 0x10
        path.write_bytes(data)
    plain, bulk = both_prints(path)
    assert bulk == plain


def test_a_value_or_name_that_is_no_utf8_makes_a_bad_record_in_bulk_too(log: Path) -> None:
    bad_value = b"\x12\x0d\x0a\x0b\x12\x04loss\x82\x01\x02\xff1"
    bad_name = b"\x12\x0c\x0a\x0a\x12\x04lo\xffs\x82\x01\x011"
    write(log, run_record(), bad_value, history_record([(("loss",), "1")], 1), bad_name)
    plain, bulk = both_prints(log)
    assert bulk == plain
    assert len(plain[1]) == 2


def test_a_long_log_is_printed_in_bulk(
    log: Path, capsys: pytest.CaptureFixture[str], wandb_inspect: WandbInspect
) -> None:
    rows = [[((f"m{i}",), repr(step / (i + 1))) for i in range(8)] + [(("_step",), str(step))] for step in range(4000)]
    write(log, run_record(), *(history_record(row, step) for step, row in enumerate(rows)))
    assert log.stat().st_size > 600_000
    assert leet(capsys, "--json", log) == wandb_inspect(log).stdout.decode()


def test_a_long_log_gives_its_summary(
    log: Path, capsys: pytest.CaptureFixture[str], wandb_inspect: WandbInspect
) -> None:
    made = [run_record()]
    for step in range(4000):
        row = [((f"m{i}",), repr(step / (i + 1))) for i in range(8)] + [(("_step",), str(step))]
        made += [summary_record(row), history_record(row, step)]
    write(log, *made)
    assert log.stat().st_size > 1_000_000
    ours = json.loads(leet(capsys, "--summary", "--json", log))
    theirs = json.loads(wandb_inspect(log, "--summary").stdout)
    assert {key: ours[key] for key in theirs} == theirs
    assert (ours["metrics"], ours["points"], ours["step"]) == (8, 32_000, 3999)


# --- spelling -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "-0"),
        (0.1, "0.1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (1e-5, "0.00001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (9.223372036854776e18, "9223372036854776000"),
        (12345678901234567.0, "12345678901234568"),
        (2**63 - 1, "9223372036854775807"),
        (2**63, "9223372036854776000"),
        (10**400, "Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_numbers_are_spelt_as_by_wandb(value: float, text: str) -> None:
    assert number(value) == text


def test_json_text_is_compact_sorted_and_safe() -> None:
    value = {"b": [1, 2.5, None, True], "a": {"é": "\x7f\u202e\n"}, "c": [], "d": {}}
    assert dump(value) == '{"a":{"é":"\\u007f\\u202e\\n"},"b":[1,2.5,null,true],"c":[],"d":{}}'
    assert json.loads(dump(value, "  ")) == value


def test_json_in_a_narrow_encoding_has_escapes_of_its_own() -> None:
    text = dump({"é": ["漢", "😀", 1]})
    assert escaped(text).isascii()
    assert json.loads(escaped(text)) == json.loads(text)
