"""A run to look at: written record by record, so that tests decide what is in it and when it grows."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from recorder.transaction_log.wire import history_record, summary_record
from recorder.transaction_log.writer import LogWriter

START = 1_764_500_000.0
"""Unix seconds at which every example starts."""


class ExampleRun:
    """A log in `directory` as a training would write it, under the control of the test."""

    def __init__(
        self, directory: Path, run_id: str = "example1", name: str = "balmy-river-7", project: str = "demo"
    ) -> None:
        self.directory = directory / "wandb" / f"offline-run-20251130_105320-{run_id}"
        self.directory.mkdir(parents=True)
        self.log = self.directory / f"run-{run_id}.wandb"
        self.writer = LogWriter(self.log, flush_interval=0.05)
        self.record("header", {"version_info": {"producer": "0.31.0"}})
        self.config = {"lr": 0.001, "model": {"layers": [64, 64], "dropout": 0.1}, "batch_size": 128, "seed": 7}
        self.record(
            "run",
            {
                "run_id": run_id,
                "project": project,
                "display_name": name,
                "notes": "first try with the wider layer",
                "tags": ["baseline", "mlp"],
                "host": "node-3",
                "start_time": {"seconds": int(START), "nanos": 0},
                "config": {"update": [{"key": k, "value_json": json.dumps(v)} for k, v in self.config.items()]},
            },
        )
        self.record("environment", {"os": "Linux-6.1", "python": "CPython 3.11.7", "cpu_count": 8, "host": "node-3"})
        self.step = 0

    def record(self, kind: str, value: dict[str, Any]) -> None:
        self.writer.append_record(kind, value)

    def row(self, values: dict[str, Any], seconds: float | None = None) -> None:
        """Log one row; its time is `seconds` after the start, one per step unless told."""
        runtime = float(self.step) if seconds is None else seconds
        stamped = {**values, "_step": self.step, "_runtime": runtime, "_timestamp": START + runtime}
        items = [((key,), json.dumps(value)) for key, value in stamped.items()]
        self.writer.append(history_record(items, self.step))
        self.writer.append(summary_record(items))
        self.step += 1

    def train(self, rows: int, metrics: int = 6) -> None:
        """Rows of `metrics` curves with plausible shapes."""
        for _ in range(rows):
            s = self.step
            named = {
                "train/loss": 2.3 * math.exp(-s / 60) + 0.1 + 0.05 * math.sin(s * 1.7),
                "train/accuracy": 1 - 0.9 * math.exp(-s / 80),
                "val/loss": 2.3 * math.exp(-s / 70) + 0.2,
                "val/accuracy": 1 - 0.92 * math.exp(-s / 90),
                "lr": 0.001 * (1 + math.cos(math.pi * min(s, 200) / 200)) / 2,
                "grad_norm": 1 + abs(math.sin(s * 0.37)) * 3 * math.exp(-s / 100),
            }
            layers = {
                f"layers/{i}/grad": math.exp(-s / (20 + i)) * (1 + 0.1 * math.sin(s + i)) for i in range(metrics - 6)
            }
            self.row({**dict(list(named.items())[:metrics]), **layers})

    def sample(self, count: int = 1, gpus: int = 2, every: float = 5.0) -> None:
        """Samples of system metrics."""
        for i in range(count):
            seconds = START + i * every
            values = {"cpu": 40 + 20 * math.sin(i / 3), "memory_percent": 50 + i % 7, "disk./.usagePercent": 61.5}
            for gpu in range(gpus):
                values[f"gpu.{gpu}.gpu"] = 70 + 25 * math.sin(i / 2 + gpu)
                values[f"gpu.{gpu}.temp"] = 55 + 10 * math.sin(i / 9 + gpu)
                values[f"gpu.{gpu}.powerWatts"] = 300 + 90 * math.sin(i / 4 + gpu)
            values["network.recv"] = 1e6 * i
            values["network.sent"] = 2e5 * i
            self.record(
                "stats",
                {
                    "timestamp": {"seconds": int(seconds), "nanos": int(seconds % 1 * 1e9)},
                    "item": [{"key": k, "value_json": json.dumps(v)} for k, v in values.items()],
                },
            )

    def flush(self) -> Path:
        self.writer.flush()
        return self.log

    def finish(self, code: int = 0) -> Path:
        self.record("exit", {"exit_code": code, "runtime": self.step})
        self.writer.close()
        return self.log


def trained(directory: Path, rows: int = 200, metrics: int = 14, samples: int = 40) -> Path:
    """A finished run with curves, system metrics, config and summary; its log."""
    run = ExampleRun(directory)
    run.train(rows, metrics)
    run.sample(samples)
    return run.finish()
