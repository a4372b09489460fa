"""Redraw every picture: `python -m screenshots.make [NAME …]`. The runs they show are recorded on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from screenshots.runs import SECONDS_PER_STEP, START, STEPS, pretraining

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Picture:
    """One file of screenshots/: the viewer on the run `pretraining` after some keys."""

    name: str
    size: str = "160x45"
    keys: str = ""


PICTURES = (
    Picture("run.svg"),
    Picture("narrow.svg", size="80x24"),
    Picture("crosshair.svg", size="120x40", keys="v <left> <left> <left>"),
    Picture("filter.svg", size="120x40", keys="/ loss"),
    Picture("chart.svg", size="120x40", keys="<enter>"),
    Picture("help.svg", size="120x40", keys="?"),
)


def main(names: list[str]) -> int:
    with tempfile.TemporaryDirectory() as directory:
        log = pretraining(Path(directory))
        now = START + STEPS * SECONDS_PER_STEP + 120
        env = {**os.environ, "HOME": directory, "TERM": "xterm-256color", "TZ": "UTC", "LEET_NOW": str(now)}
        for picture in PICTURES:
            if names and picture.name not in names:
                continue
            command = [sys.executable, "-m", "leet", str(log), "--screenshot", str(HERE / picture.name)]
            subprocess.run([*command, "--size", picture.size, "--keys", picture.keys], check=True, env=env)
            print(f"screenshots/{picture.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
