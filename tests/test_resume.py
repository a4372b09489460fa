"""Runs that go on with earlier ones: a new directory, the same id, the next step."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded import QUIET, of_kind, rows_of, run_script

from recorder.resume import last_step
from recorder.transaction_log.writer import LogWriter

INIT = f"import recorder as wandb\nrun = wandb.init(project='p', settings={QUIET}, "
LOG = "for i in range(3): run.log({'a': i})\nprint(run.id, run.resumed, run.starting_step)\n"


def run(arguments: str, directory: Path, *, more: str = LOG, status: int = 0, **environ: str) -> list[str]:
    return run_script(f"{INIT}{arguments})\n{more}", directory, status=status, environ=environ).stdout.split()


def logs(directory: Path) -> list[Path]:
    return sorted(directory.glob("wandb/offline-run-*/run-*.wandb"))


def steps(log: Path) -> list[int]:
    return [int(row["_step"]) for row in rows_of(log)]


@pytest.mark.parametrize("how", ["allow", "must"])
def test_steps_go_on(how: str, tmp_path: Path) -> None:
    assert run("id='x', resume='allow'", tmp_path) == ["x", "False", "0"]
    run("id='other-x'", tmp_path)
    assert run(f"id='x', resume={how!r}", tmp_path) == ["x", "True", "3"]
    assert run("resume='allow'", tmp_path, WANDB_RUN_ID="x") == ["x", "True", "6"]
    found = [log for log in logs(tmp_path) if log.name == "run-x.wandb" and not log.parent.name.endswith("other-x")]
    assert [steps(log) for log in found] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert [of_kind(log, "run")[0].resume for log in found] == [True] * 3


def test_must_and_never_are_strict(tmp_path: Path) -> None:
    def refused(arguments: str) -> str:
        script = f"import recorder as wandb\ntry: wandb.init(project='p', settings={QUIET}, {arguments})\n"
        return run_script(script + "except wandb.UsageError as error: print(error)\n", tmp_path).stdout

    assert "no run 'x' is recorded" in refused("id='x', resume='must'")
    run("id='x', resume='never'", tmp_path)
    assert "run 'x' is recorded in" in refused("id='x', resume='never'")
    assert "exclude" in refused("fork_from='x?_step=1', resume_from='x?_step=1'")
    assert "_step=100" in refused("fork_from='x'")
    assert len(logs(tmp_path)) == 1


def test_auto_goes_on_with_what_did_not_end_well(tmp_path: Path) -> None:
    crashed = run("resume='auto'", tmp_path, more=LOG + "import sys; sys.exit(3)", status=3)
    assert run("resume=True", tmp_path) == [crashed[0], "True", "3"]
    assert run("resume='auto'", tmp_path)[1:] == ["False", "0"]


def test_a_damaged_log_is_gone_on_with(tmp_path: Path) -> None:
    run("id='x'", tmp_path, more="for i in range(5000): run.log({'a': i})")
    (log,) = logs(tmp_path)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 0xFF
    log.write_bytes(data[:-40])
    last = steps_before_damage = last_step(log)
    assert last is not None
    assert 4900 < last <= 4999
    assert run("id='x', resume='allow'", tmp_path)[2] == str(steps_before_damage + 1)
    log.write_bytes(b"")
    assert last_step(log) is None


def test_the_last_row_may_be_far_from_the_end(tmp_path: Path) -> None:
    run("id='x'", tmp_path, more="run.log({'a': 'x' * 100000}, step=41)\nfor i in range(40): print('y' * 100000)")
    (log,) = logs(tmp_path)
    assert log.stat().st_size > 4_000_000
    assert last_step(log) == 41


def test_a_log_without_rows_has_no_last_step(tmp_path: Path) -> None:
    path = tmp_path / "run-x.wandb"
    writer = LogWriter(path)
    writer.append_record("run", {"run_id": "x"})
    writer.close()
    assert last_step(path) is None


def test_forks_and_rewinds_are_recorded(tmp_path: Path) -> None:
    fork, *said = run("fork_from='base?_step=41'", tmp_path)
    assert said == ["False", "42"]
    assert run("resume_from='base?_step=9'", tmp_path) == ["base", "True", "10"]
    records = {record.run_id: record for log in logs(tmp_path) for record in of_kind(log, "run")[:1]}
    for record, value in ((records[fork], 41), (records["base"], 9)):
        assert (record.branch_point.run, record.branch_point.metric) == ("base", "_step")
        assert record.branch_point.value == value
