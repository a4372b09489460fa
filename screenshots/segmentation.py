"""A run that segments cells under a microscope, for the pictures of media: the same bytes every time.

The picture is the same field in every row; what the model makes of it grows from a guess to the truth.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from recorder.media.png import encode
from recorder.transaction_log.json_values import dump
from recorder.transaction_log.wire import history_record, timestamp
from recorder.transaction_log.writer import LogWriter
from screenshots.runs import START

ROWS = 40
SECONDS_PER_ROW = 45.0
EVERY = 2
"""Rows between two pictures."""
HEIGHT, WIDTH = 96, 144
CLASSES = {"1": "cell", "2": "nucleus"}
KEY = "val/field"


def segmentation(directory: Path) -> Path:
    """Write the run below `directory`; its log."""
    path = directory / "wandb" / "offline-run-20260921_141320-m4c0sd1e"
    (path / "files").mkdir(parents=True)
    log = LogWriter(path / "run-m4c0sd1e.wandb", flush_interval=60)
    rng = np.random.default_rng(5)
    cells = _cells(rng)
    log.append_record("header", {"version_info": {"producer": "recorder", "min_consumer": "0.70.0"}})
    labels = {"class_labels": CLASSES}
    named = {
        "mask/class_labels": {f"{KEY}_wandb_delimeter_prediction": {"value": CLASSES}},
        "bounding_box/class_labels": {f"{KEY}_wandb_delimeter_prediction": {"value": CLASSES}},
    }
    log.append_record(
        "run",
        {
            "run_id": "m4c0sd1e",
            "project": "cells",
            "display_name": "unet-small-augmented",
            "tags": ["unet", "fp16"],
            "host": "node-4",
            "start_time": timestamp(START),
            "config": {
                "update": [
                    {"key": "width", "value_json": "32"},
                    {"key": "augment", "value_json": '["flip", "elastic"]'},
                    *({"nested_key": ["_wandb", name], "value_json": dump(value)} for name, value in named.items()),
                ]
            },
        },
    )
    for row in range(ROWS):
        share = 1 - np.exp(-row / 12)
        values: dict[str, Any] = {
            "train/loss": 0.9 * float(np.exp(-row / 9)) + 0.11 + float(rng.normal(0, 0.012)),
            "val/dice": 0.34 + 0.58 * float(share) + float(rng.normal(0, 0.008)),
            "weights/encoder": _histogram(rng.normal(0.2 * share, 0.35 + 0.5 * share, 4000)),
        }
        if row % EVERY == 0:
            values[KEY] = _picture(path / "files", row, cells, float(share), rng, labels)
        if row % 10 == 9 or row == ROWS - 1:
            values["val/worst"] = _table(path / "files", row, rng, float(share))
        seconds = row * SECONDS_PER_ROW
        full = {"_step": row * 50, "_runtime": seconds, "_timestamp": START + seconds, **values}
        log.append(history_record([((key,), dump(value)) for key, value in full.items()], row * 50))
    log.append_record("exit", {"exit_code": 0, "runtime": round(ROWS * SECONDS_PER_ROW)})
    log.close()
    os.utime(log.path, times=(START + ROWS * SECONDS_PER_ROW,) * 2)
    return log.path


def _cells(rng: np.random.Generator) -> list[tuple[float, float, float]]:
    """Middle and radius of each, apart from each other."""
    found: list[tuple[float, float, float]] = []
    while len(found) < 9:
        x, y, radius = rng.uniform(10, WIDTH - 10), rng.uniform(10, HEIGHT - 10), rng.uniform(9, 15)
        if all(np.hypot(x - a, y - b) > radius + r + 2 for a, b, r in found):
            found.append((float(x), float(y), float(radius)))
    return found


def _picture(
    files: Path, row: int, cells: list[tuple[float, float, float]], share: float, rng: np.random.Generator, labels: Any
) -> dict[str, Any]:
    """The field, with masks and boxes as good as the model is by then."""
    down, across = np.mgrid[0:HEIGHT, 0:WIDTH]
    light = 26 + 8 * np.sin(across / 31) + 6 * np.cos(down / 23)
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    boxes = []
    still = np.random.default_rng(1)  # the field does not change from row to row
    for x, y, radius in cells:
        distance = np.hypot(across - x, down - y) / radius
        light += 120 * np.clip(1.15 - distance, 0, 0.5) + 150 * np.clip(0.42 - distance, 0, 0.3)
        off = (1 - share) * rng.normal(0, 5, 2)
        grown = radius * (1 + (1 - share) * float(rng.normal(0, 0.25)))
        seen = np.hypot(across - x - off[0], down - y - off[1]) / max(grown, 4)
        mask[seen < 1] = 1
        mask[seen < 0.36 * share] = 2
        if rng.uniform() < 0.25 + share:
            left, right, top, bottom = x + off[0] - grown, x + off[0] + grown, y + off[1] - grown, y + off[1] + grown
            position = {"minX": left / WIDTH, "maxX": right / WIDTH, "minY": top / HEIGHT, "maxY": bottom / HEIGHT}
            boxes.append({"position": position, "class_id": 1, "scores": {"p": round(0.5 + 0.5 * share, 3)}})
    grain = still.normal(0, 5, (HEIGHT, WIDTH))
    tint = np.array([0.62, 1.0, 0.78])
    pixels = np.clip((light + grain)[:, :, np.newaxis] * tint, 0, 255).astype(np.uint8)
    written = {
        "path": _written(files, f"images/{KEY}_{row}.png", encode(pixels)),
        "mask": _written(files, f"images/mask/{KEY}_{row}.mask.png", encode(mask, flat=True)),
        "boxes": _written(files, f"metadata/boxes2D/{KEY}_{row}.boxes2D.json",
                          json.dumps({"box_data": boxes, **labels}).encode()),
    }  # fmt: skip
    return {
        "_type": "image-file",
        "path": written["path"],
        "format": "png",
        "width": WIDTH,
        "height": HEIGHT,
        "caption": f"field 17, {len(boxes)} of {len(cells)} cells found",
        "masks": {"prediction": {"_type": "mask", "path": written["mask"]}},
        "boxes": {"prediction": {"_type": "boxes2D", "path": written["boxes"]}},
    }


def _histogram(values: Any) -> dict[str, Any]:
    counts, edges = np.histogram(values, bins=48)
    return {"_type": "histogram", "values": counts.tolist(), "bins": [round(float(edge), 5) for edge in edges]}


def _table(files: Path, row: int, rng: np.random.Generator, share: float) -> dict[str, Any]:
    columns = ["field", "cells", "found", "dice"]
    rows = [[f"plate-{i // 4 + 1}/{i % 4 + 1:02}", int(rng.integers(6, 14)), 0, 0.0] for i in range(24)]
    for entry in rows:
        entry[2] = int(entry[1] * min(1.0, 0.3 + share * float(rng.uniform(0.6, 0.8))))
        entry[3] = round(0.3 + 0.5 * share * float(rng.uniform(0.8, 1.0)), 4)
    rows.sort(key=lambda entry: entry[3])
    data = json.dumps({"columns": columns, "data": rows}).encode()
    path = _written(files, f"table/val/worst_{row}.table.json", data)
    return {"_type": "table-file", "path": path, "ncols": len(columns), "nrows": len(rows), "size": len(data)}


def _written(files: Path, name: str, data: bytes) -> str:
    """Puts a file where media are; its path as it is logged."""
    path = files / "media" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return f"media/{name}"
