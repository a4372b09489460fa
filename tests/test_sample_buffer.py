"""Samples of the machine that a script asks for, and what the recorder says of itself."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from recorded import run_script

from recorder.sample_buffer import SampleBuffer
from recorder.system.families import openers
from recorder.system.source import NotHere, SystemSettings


@pytest.mark.parametrize(("size", "kept"), [(0, []), (2, [3.0, 4.0]), (-1, [1.0, 2.0, 3.0, 4.0])])
def test_the_newest_values_are_kept_without_their_label(size: int, kept: list[float]) -> None:
    buffer = SampleBuffer(size, "rank_0")
    for i in range(1, 5):
        buffer.add(float(i), {"cpu/l:rank_0": i})
    values = buffer.values()
    assert [value for _, value in values.get("cpu", [])] == kept
    assert set(values) == ({"cpu"} if kept else set())
    if kept:
        assert values["cpu"][-1][0] == datetime.fromtimestamp(4.0, UTC)


SCRIPT = """
import time, recorder
settings = dict(x_stats_sampling_interval=0.1, x_stats_buffer_size=2, x_label="r", x_save_requirements=False)
run = recorder.init(mode="offline", settings=settings)
end = time.monotonic() + 30
while len(run._system_metrics.get("proc.cpu.threads", ())) < 2 and time.monotonic() < end:
    time.sleep(0.05)
for moment, value in run._system_metrics["proc.cpu.threads"]:
    assert value >= 1 and moment.tzinfo is not None
assert not any("/l:" in key for key in run._system_metrics)
run.finish()
assert len(run._system_metrics["proc.cpu.threads"]) == 2
"""


def test_a_run_gives_its_last_samples(tmp_path: Path) -> None:
    run_script(SCRIPT, tmp_path)


def test_the_recorder_beside_a_program_tells_what_it_uses_itself() -> None:
    settings = SystemSettings(pid=os.getppid(), extra={"self_usage": True})
    source = openers(settings)["own"]()
    sum(range(10_000))
    sample = source.sample()
    assert sample["wandb.memory.rssMB"] > 1
    assert sample["wandb.cpu"] >= 0
    source.close()


def test_inside_the_program_it_is_no_process_of_its_own() -> None:
    with pytest.raises(NotHere, match=r"proc\.\* has its use"):
        openers(SystemSettings(extra={"self_usage": True}))["own"]()
