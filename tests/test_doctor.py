"""`leet doctor`: what logs weigh, measured side by side, is what they weigh record by record."""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import corpus_logs
from example_run import START, ExampleRun
from hypothesis import given
from hypothesis import strategies as st

from leet.output import doctor, doctor_skim, inspect
from leet.output.doctor_checks import Check, Project, checks_of
from leet.output.doctor_skim import RunFacts, Sized, metric_names, skim
from leet.output.run_summary import RunSummary
from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord
from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, history_record

ROOT = Path(__file__).parents[1]


def write_log(path: Path, payloads: list[bytes]) -> Path:
    data = bytearray(HEADER)
    for payload in payloads:
        data += frame(payload, len(data))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def row(step: int, seconds: float, values: dict[str, Any]) -> bytes:
    stamped = {**values, "_step": step, "_runtime": seconds, "_timestamp": START + seconds}
    return history_record([((key,), json.dumps(value)) for key, value in stamped.items()], step)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[ExampleRun]:
    example = ExampleRun(tmp_path)
    yield example
    example.writer.close()


def asked(capsys: Any, *arguments: object, status: int = 0) -> dict[str, Any]:
    """The JSON answer, with the checks by name."""
    assert doctor.main([*map(str, arguments), "--json"]) == status
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    answer["checks"] = {check["name"]: check for check in answer["checks"]}
    return answer


# --- what one log weighs


def test_a_log_is_weighed(tmp_path: Path) -> None:
    config = [{"key": "lr", "value_json": "0.1"}, {"key": "words", "value_json": json.dumps("w" * 1000)}]
    log = write_log(
        tmp_path / "run-x.wandb",
        [
            encode("Record", {"run": {"run_id": "x", "display_name": "one", "config": {"update": config}}}),
            row(0, 0, {"a": 1, "b": 2}),
            row(1, 10, {"a": 1, "text": "t" * 300}),
            row(2, 130, {"a": 1}),
            encode("Record", {"config": {"update": [{"key": "more", "value_json": "[1,2,3]"}]}}),
            encode("Record", {"config": {"remove": [{"key": "lr"}]}}),
            encode("Record", {"files": {"files": [{"path": "a.txt"}, {"path": "b.txt"}]}}),
            encode("Record", {"files": {"files": [{"path": "b.txt"}]}}),
        ],
    )
    facts = skim(log)
    assert (facts.run_id, facts.display_name) == ("x", "one")
    assert facts.metrics == {"a", "b", "text"}
    assert (facts.rows, facts.points) == (3, 5)
    assert (facts.peak_rows, facts.peak_points) == (2, 4)
    assert facts.mean_rows == pytest.approx(3 / (130 / 60))
    assert facts.mean_points == pytest.approx(5 / (130 / 60))
    assert facts.largest_values == [Sized("text", 302), Sized("a", 1), Sized("b", 1)]
    assert facts.largest_row.name == "text"
    assert 302 < facts.largest_row.size < 450
    assert facts.largest_row_step == 1
    assert facts.config_largest == [Sized("words", 1002), Sized("more", 7)]
    assert facts.config_size == 1009 + len("words") + len("more")
    assert facts.files == 2
    assert facts.skipped == 0


def test_the_busiest_minute_slides(tmp_path: Path) -> None:
    """900 rows around the full minute of the clock are one burst, not two halves."""
    offset = 60 - START % 60
    seconds = [offset - 15 + i / 30 for i in range(900)] + [offset + 600]
    log = write_log(tmp_path / "run-x.wandb", [row(i, at, {"a": 1, "b": 2}) for i, at in enumerate(seconds)])
    facts = skim(log)
    assert (facts.peak_rows, facts.peak_points) == (900, 1800)
    assert facts.mean_rows == pytest.approx(901 / (615 / 60))


def test_a_run_shorter_than_a_minute_has_no_higher_average(tmp_path: Path) -> None:
    facts = skim(write_log(tmp_path / "run-x.wandb", [row(i, i / 100, {"a": 1}) for i in range(50)]))
    assert facts.mean_rows == facts.peak_rows == 50


VALUES = st.one_of(
    st.floats(), st.integers(), st.text("ab{é", max_size=30), st.dictionaries(st.sampled_from("xy"), st.integers())
)
LOGS = st.lists(
    st.tuples(st.floats(0, 300), st.dictionaries(st.sampled_from(["a", "b", "c/d", "_x", "long" * 40]), VALUES)),
    max_size=30,
)


@given(LOGS)
def test_weighing_side_by_side_is_weighing_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, logged: list[tuple[float, dict[str, Any]]]
) -> None:
    payloads = [row(i, seconds, values) for i, (seconds, values) in enumerate(logged)]
    assert_weight(write_log(tmp_path_factory.mktemp("log") / "run-x.wandb", payloads))


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda log: log.parent.name)
def test_real_logs_weigh_what_their_records_weigh(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_weight(log)
    whole = skim(log)
    monkeypatch.setattr(doctor_skim, "_PIECE", 5000)
    assert skim(log) == whole


def assert_weight(log: Path) -> None:
    """Hold the weight of a log against that of its records, taken one after the other and value by value."""
    times, counts, sizes, lengths = [], [], {}, [0]
    reader = BlockReader()
    for raw in [*reader.feed(log.read_bytes()), *reader.finish()]:
        record = records.parse(raw.payload) if isinstance(raw, RawRecord) else None
        if record is None or records.kind(record) != "history":
            continue
        lengths.append(record.history.ByteSize())
        at, count = math.nan, 0
        for item in record.history.item:
            name = ".".join(item.nested_key) or item.key
            for leaf, size in leaves(name, item):
                sizes[leaf] = max(size, sizes.get(leaf, 0))
                count += not leaf.startswith("_")
            if name == "_timestamp":
                at = float(json.loads(item.value_json))
        times.append(at)
        counts.append(count)
    facts = skim(log)
    assert facts.rows == len(times)
    assert facts.points == sum(counts)
    assert facts.metrics == metric_names(sizes)
    summary = RunSummary(log)
    inspect.summarise(log, summary)
    assert facts.numeric == len(summary.metrics)
    assert facts.largest_row.size == max(lengths)
    mine = sorted(
        (size for name, size in sizes.items() if name not in ("_step", "_runtime", "_timestamp")), reverse=True
    )
    assert [value.size for value in facts.largest_values] == mine[:5]
    windows = [[c for t, c in zip(times, counts, strict=True) if start <= t < start + 60] for start in times]
    assert facts.peak_rows == max(map(len, windows), default=0)
    assert facts.peak_points == max(map(sum, windows), default=0)


def leaves(name: str, item: Any) -> Iterator[tuple[str, int]]:
    """Dotted names and sizes of what is in an item, by JSON alone."""

    def inside(name: str, value: Any) -> Iterator[tuple[str, int]]:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                yield from inside(f"{name}.{key}", inner)
        else:
            yield name, len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())

    form = item.WhichOneof("value")
    if form not in (None, "json"):
        yield name, len(item.text.encode()) if form == "text" else 8
        return
    text = item.json if form else item.value_json
    value = json.loads(text)
    if isinstance(value, dict) and value:
        yield from inside(name, value)
    else:
        yield name, len(text.encode())


def test_media_count_as_one_metric() -> None:
    names = ["img._type", "img.path", "img.boxes.x", "imgs", "n.hist._type", "n.hist.bins", "n.loss", "_wandb"]
    assert metric_names(names) == {"img", "imgs", "n.hist", "n.loss"}


# --- the ceilings


def facts_with(**figures: Any) -> RunFacts:
    return RunFacts(Path("run-x.wandb"), run_id="x", **figures)


@pytest.mark.parametrize(
    ("name", "figures", "over", "near"),
    [
        ("peak_calls", lambda n: {"peak_rows": n}, 1_001, 501),
        ("mean_calls", lambda n: {"mean_rows": n}, 1_000.5, 1_000),
        ("peak_values", lambda n: {"peak_points": n}, 100_001, 100_000),
        ("mean_values", lambda n: {"mean_points": n}, 100_001, 60_000),
        ("steps", lambda n: {"rows": n}, 500_001, 400_000),
        ("value", lambda n: {"largest_values": [Sized("a", n)]}, 10**6 + 1, 10**6),
        ("call", lambda n: {"largest_row": Sized("a", n)}, 25 * 10**6 + 1, 20 * 10**6),
        ("config", lambda n: {"config_size": n}, 10**7 + 1, 6 * 10**6),
        ("files", lambda n: {"files": n}, 1_001, 900),
        ("metrics", lambda n: {"metrics": frozenset(map(str, range(n)))}, 100_001, 60_000),
    ],
)
def test_each_figure_has_its_ceiling(name: str, figures: Any, over: float, near: float) -> None:
    def checked(figure: float) -> Check:
        project = Project()
        project.add(facts_with(**figures(figure)))
        [check] = [check for check in checks_of(project) if check.name == name]
        assert {other.state for other in checks_of(project) if other.name != name} == {"ok"}
        return check

    assert [checked(figure).state for figure in (1, near, over)] == ["ok", "warn", "over"]
    assert checked(over).value == over
    assert checked(over).remedy


def test_what_has_no_published_ceiling_is_never_over() -> None:
    project = Project()
    project.add(facts_with(metrics=frozenset({"first"})))
    project.add(facts_with(metrics=frozenset(f"{i}/m" for i in range(5_000))))
    states = {check.name: check.state for check in checks_of(project)}
    assert states["sections"] == states["new_metrics"] == "warn"
    assert states["metrics"] == "ok"


# --- the command


def write_project(directory: Path) -> Path:
    """Four runs; the third brings two names, the last one, and the second logs the largest value."""
    for number, names in enumerate((("a", "b"), ("a",), ("a", "new/1", "new/2"), ("a", "late"))):
        values = dict.fromkeys(names, "x" * 5_000 if number == 1 else number)
        write_log(
            directory / "wandb" / f"offline-run-20260101_00000{number}-r{number}" / f"run-r{number}.wandb",
            [
                encode("Record", {"run": {"run_id": f"r{number}", "display_name": f"run {number}"}}),
                *(row(step, step, values) for step in range(3)),
            ],
        )
    return directory


def test_a_directory_of_runs_is_looked_at_as_a_whole(tmp_path: Path, capsys: Any) -> None:
    project = write_project(tmp_path)
    for path in (project, project / "wandb"):
        answer = asked(capsys, path)
        assert answer["state"] == "ok"
        checks = answer["checks"]
        assert checks["runs"]["value"] == 4
        assert checks["metrics"]["value"] == 5
        assert checks["value"]["value"] == 5_002
        assert checks["value"]["run"] == "r1 (run 1)"
        assert checks["new_metrics"]["value"] == 2
        assert answer["new_metrics"] == [
            {"run": "r1 (run 1)", "count": 0, "some": []},
            {"run": "r2 (run 2)", "count": 2, "some": ["new/1", "new/2"]},
            {"run": "r3 (run 3)", "count": 1, "some": ["late"]},
        ]
        assert [facts["metrics"] for facts in answer["runs"]] == [2, 1, 3, 2]
    assert len(asked(capsys, project / "wandb" / "offline-run-20260101_000002-r2")["runs"]) == 1


def test_without_a_path_it_is_the_directory_one_stands_in(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_project(tmp_path)
    monkeypatch.chdir(project)
    assert asked(capsys)["checks"]["runs"]["value"] == 4
    monkeypatch.chdir("/")
    monkeypatch.setenv("WANDB_DIR", str(project))
    assert asked(capsys)["checks"]["runs"]["value"] == 4


def test_what_is_over_is_marked_with_its_remedy_and_status_1(run: ExampleRun, capsys: Any) -> None:
    for i in range(1_100):
        run.row({"loss": 1 / (i + 1)}, seconds=i / 50)
    run.writer.close()
    assert doctor.main([str(run.log)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "run example1 (balmy-river-7): 1 metric, 1,100 rows, 1,100 values"
    [busiest] = [i for i, line in enumerate(lines) if "busiest minute" in line and "log()" in line]
    assert " ".join(lines[busiest].split()) == "OVER log() calls in the busiest minute 1,100 of 1,000"
    assert lines[busiest + 2].strip() == "→ log several metrics in one call, and only every so many steps"
    assert sum("→" in line for line in lines) == 1  # once for both figures that it is about
    assert sum(line[:1].isdigit() for line in lines) == 5
    answer = asked(capsys, run.log, status=1)
    assert answer["state"] == "over"
    assert answer["checks"]["peak_calls"]["remedy"]
    assert answer["checks"]["peak_values"]["remedy"] is None


def test_warnings_alone_are_status_0(run: ExampleRun, capsys: Any) -> None:
    for i in range(600):
        run.row({"loss": i}, seconds=i / 50)
    run.writer.close()
    assert asked(capsys, run.log)["state"] == "warn"


def test_names_from_a_log_reach_the_terminal_harmless(run: ExampleRun, capsys: Any) -> None:
    run.record("run", {"run_id": "x\x1b[2J", "display_name": "y\u202e"})
    run.row({"loss\x1b]0;t\x07": "a" * 100, "\x1b[31m/x": 1})
    run.writer.close()
    for options in ([], ["--json"]):
        assert doctor.main([str(run.log), *options]) == 0
        said = capsys.readouterr().out
        assert "loss" in said
        assert not set(said) & {"\x1b", "\x07", "\u202e"}


def test_logs_that_cannot_be_read_are_named_and_the_others_looked_at(tmp_path: Path, capsys: Any) -> None:
    project = write_project(tmp_path)
    bad = project / "wandb" / "offline-run-20260102_000000-bad" / "run-bad.wandb"
    bad.parent.mkdir()
    bad.write_bytes(b"no log at all")
    answer = asked(capsys, project)
    assert answer["checks"]["runs"]["value"] == 4
    assert [entry["log"] for entry in answer["unreadable"]] == [str(bad)]
    assert doctor.main([str(project)]) == 0
    said = capsys.readouterr()
    assert f"leet doctor: not read: {bad}: not a W&B log" in said.err
    assert "not read" not in said.out
    assert doctor.main([str(bad)]) == 1


def test_damage_is_said(run: ExampleRun, capsys: Any) -> None:
    for _ in range(20):
        run.row({"a": "x" * 100})
    run.writer.close()
    data = bytearray(run.log.read_bytes())
    data[data.index(b"x" * 100)] ^= 0xFF
    run.log.write_bytes(data)
    assert doctor.main([str(run.log)]) == 0
    assert "1 of the logs has parts that could not be read." in capsys.readouterr().out
    assert asked(capsys, run.log)["runs"][0]["rows"] == 19


class Screen(io.StringIO):
    """A terminal to write on."""

    def isatty(self) -> bool:
        return True


def test_who_waits_at_a_terminal_is_told_how_far_it_is(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, screen = write_project(tmp_path), Screen()
    monkeypatch.setattr(doctor, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", screen)
    assert doctor.main([str(project)]) == 0
    assert [line for line in screen.getvalue().split("\r\x1b[K") if line] == [
        f"read {done} of 4 logs" for done in range(4)
    ]
    assert screen.getvalue().endswith("\r\x1b[K"), "nothing of it stays"
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert doctor.main([str(project)]) == 0
    assert sys.stderr.getvalue() == ""


def test_nothing_there_is_one_line(tmp_path: Path, capsys: Any) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        assert doctor.main([str(path)]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("leet doctor: ")
        assert said.err.count("\n") == 1


def test_many_runs_need_few_open_files(tmp_path: Path) -> None:
    """More runs than the process may have files open, in the real program."""
    for number in range(80):
        write_log(tmp_path / f"run-20260101_{number:06d}-r{number}" / f"run-r{number}.wandb", [row(0, 0, {"a": 1})])
    code = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n"
    code += f"from leet.cli import main; raise SystemExit(main(['doctor', {str(tmp_path)!r}]))"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("80 runs: 1 metric, 80 rows, 80 values")
    assert "not read" not in ended.stderr
