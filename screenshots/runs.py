"""The runs in the pictures: written by the recorder's own log writer, the same bytes every time.

`pretraining` imitates a language model on eight GPUs, with a spike, a few NaNs after it, and a checkpoint every 500
steps, since that is what people look for in a viewer. The demo's training is real but never twice the same.
"""

from __future__ import annotations

import math
import os
import random
from pathlib import Path
from typing import Any

from recorder.transaction_log.json_values import dump
from recorder.transaction_log.wire import history_record, summary_record, timestamp
from recorder.transaction_log.writer import LogWriter

START = 1_790_000_000.0
"""When the runs began, Unix seconds: 21 September 2026."""

GPUS = 8
STEPS = 4000
SECONDS_PER_STEP = 0.9

CONFIG: dict[str, Any] = {
    "model": {"name": "decoder-1.3b", "layers": 24, "width": 2048, "heads": 16, "context": 4096},
    "optimizer": {"name": "adamw", "lr": 3e-4, "betas": [0.9, 0.95], "weight_decay": 0.1, "warmup_steps": 200},
    "data": {"mixture": "web-70/code-20/books-10", "tokens": 26_000_000_000},
    "batch": {"global": 1024, "micro": 8},
    "precision": "bf16",
    "seed": 1234,
}


def pretraining(directory: Path) -> Path:
    """Write the run below `directory`; its log."""
    run_id = "q7x2mfd0"
    path = directory / "wandb" / f"offline-run-20260921_141320-{run_id}"
    (path / "files").mkdir(parents=True)
    log = LogWriter(path / f"run-{run_id}.wandb", flush_interval=60)
    rng = random.Random(11)
    log.append_record("header", {"version_info": {"producer": "recorder", "min_consumer": "0.70.0"}})
    log.append_record(
        "run",
        {
            "run_id": run_id,
            "project": "pretraining",
            "display_name": "decoder-1.3b-cosine",
            "notes": "Cosine schedule, new data mixture. Watch the norm after step 2,300.",
            "tags": ["8xH200", "bf16", "baseline"],
            "host": "node-17",
            "start_time": timestamp(START),
            "config": {"update": [{"key": key, "value_json": dump(value)} for key, value in CONFIG.items()]},
        },
    )
    log.append_record("environment", _environment())
    _history(log, rng)
    log.close()
    os.utime(log.path, times=(START + STEPS * SECONDS_PER_STEP,) * 2)
    return log.path


def _environment() -> dict[str, Any]:
    return {
        "os": "Linux-6.8.0-x86_64-with-glibc2.39",
        "python": "CPython 3.12.7",
        "program": "pretrain.py",
        "args": ["--config", "decoder-1.3b.yaml", "--resume", "never"],
        "host": "node-17",
        "started_at": timestamp(START),
        "cpu_count": 96,
        "cpu_count_logical": 192,
        "gpu_type": "NVIDIA H200",
        "gpu_count": GPUS,
        "gpu_nvidia": [{"name": "NVIDIA H200", "memory_total": 150_754_820_096} for _ in range(GPUS)],
        "cuda_version": "12.8",
        "git": {"remote_url": "git@example.org:lab/pretraining.git", "commit": "4c1f9d2e8ab04d7f"},
    }


def _history(log: LogWriter, rng: random.Random) -> None:
    last: dict[str, float] = {}
    sampled = -15.0
    for step in range(STEPS):
        seconds = step * SECONDS_PER_STEP
        row = _row(step, rng)
        last |= row
        full: dict[str, Any] = {"_step": step, "_runtime": seconds, "_timestamp": START + seconds, **row}
        log.append(history_record([((key,), dump(value)) for key, value in full.items()], step))
        _say(log, step, START + seconds, row)
        if seconds - sampled >= 15:
            sampled = seconds
            items = [{"key": key, "value_json": dump(value)} for key, value in _sample(step, seconds, rng).items()]
            log.append_record("stats", {"timestamp": timestamp(START + seconds), "item": items})
    log.append(summary_record([((key,), dump(value)) for key, value in last.items()]))
    log.append_record("exit", {"exit_code": 0, "runtime": round(STEPS * SECONDS_PER_STEP)})


def _say(log: LogWriter, step: int, now: float, row: dict[str, float]) -> None:
    """What the program prints: colours, a bar that is drawn over and over, and a warning after the spike."""
    said = []
    if step % 50 == 0:
        loss, speed = row["train/loss"], row["throughput/tokens_per_second"] / 1000
        said.append((1, f"\x1b[36mstep {step:>5,}\x1b[0m  loss \x1b[1m{loss:.3f}\x1b[0m  {speed:.0f} k tokens/s\n"))
    if step % 500 == 0 and step:
        said += [(1, f"\rcheckpoint {part:>3}% |{'#' * (part // 5):<20}|") for part in range(0, 101, 20)]
        said.append((1, f"  \x1b[32msaved\x1b[0m to ckpt/step-{step}\n"))
    if math.isnan(row["train/loss"]):
        said.append((0, f"\x1b[33mwarning\x1b[0m: loss is nan at step {step:,}, the update was skipped\n"))
    for stream, text in said:
        log.append_record("output_raw", {"output_type": stream, "timestamp": timestamp(now), "line": text})


def _row(step: int, rng: random.Random) -> dict[str, float]:
    progress = step / STEPS
    spike = 1.9 * math.exp(-(((step - 2310) / 14) ** 2)) + (0.5 * math.exp(-(step - 2310) / 90) if step > 2310 else 0)
    loss = 2.05 + 7.2 * math.exp(-step / 180) + 1.3 * math.exp(-step / 1500) + spike + rng.gauss(0, 0.035)
    rate = 3e-4 * (step / 200 if step < 200 else 0.1 + 0.45 * (1 + math.cos(math.pi * progress)))
    norm = 0.45 + 2.5 * math.exp(-step / 120) + 4 * spike * rng.uniform(0.7, 1.3) + abs(rng.gauss(0, 0.07))
    checkpoint = step % 500 < 6 and step > 10
    row = {
        "train/loss": loss if not 2312 <= step <= 2316 else math.nan,
        "train/perplexity": math.exp(min(loss, 20)) if not 2312 <= step <= 2316 else math.nan,
        "train/accuracy": max(0.0, 0.62 - 0.5 * math.exp(-step / 700) - 0.09 * spike + rng.gauss(0, 0.006)),
        "optimizer/learning_rate": rate,
        "optimizer/gradient_norm": norm,
        "optimizer/loss_scale": 2.0 ** (16 - (1 if 2312 <= step < 2900 else 0)),
        "throughput/tokens_per_second": (41_000 if checkpoint else 412_000) + rng.gauss(0, 4200),
        "throughput/step_seconds": (7.8 if checkpoint else 0.9) + abs(rng.gauss(0, 0.02)),
        "tokens": step * 4_194_304,
    }
    if step % 100 == 0:
        row |= {
            "validation/loss": loss - spike + 0.09 + rng.gauss(0, 0.01),
            "validation/hellaswag": 0.25 + 0.31 * (1 - math.exp(-step / 1400)) + rng.gauss(0, 0.004),
            "validation/arc_easy": 0.25 + 0.42 * (1 - math.exp(-step / 1100)) + rng.gauss(0, 0.005),
        }
    return row


def _sample(step: int, seconds: float, rng: random.Random) -> dict[str, float]:
    busy = 0.15 if step % 500 < 12 and step > 20 else 1.0
    sample = {
        "cpu": 11 + rng.gauss(0, 0.8),
        "memory_percent": 34 + 6 * step / STEPS + rng.gauss(0, 0.2),
        "proc.memory.rssMB": 61_000 + 6000 * step / STEPS,
        "proc.cpu.threads": 418,
        "disk./.usagePercent": 61.5 + 1.6 * step / STEPS,
        "disk.nvme0n1.in": 900 + 310 * seconds / 60,
        "disk.nvme0n1.out": 120 + 4.1 * seconds + 2600 * (step // 500),
        "network.sent": 3.1e7 * seconds,
        "network.recv": 8.4e7 * seconds,
    }
    for gpu in range(GPUS):
        load = busy * (97 - gpu % 3) + rng.gauss(0, 1.2)
        sample |= {
            f"gpu.{gpu}.gpu": min(100.0, max(0.0, load)),
            f"gpu.{gpu}.memoryAllocated": 83 + gpu % 4 + 2 * step / STEPS,
            f"gpu.{gpu}.memoryAllocatedBytes": (0.83 + 0.01 * (gpu % 4)) * 150_754_820_096,
            f"gpu.{gpu}.temp": 48 + 0.17 * load + gpu % 5 + rng.gauss(0, 0.4),
            f"gpu.{gpu}.powerWatts": 180 + 4.6 * load + rng.gauss(0, 9),
            f"gpu.{gpu}.enforcedPowerLimitWatts": 700.0,
            f"gpu.{gpu}.smClock": 1830.0 + rng.choice([0, 15, 30]),
        }
    return sample
