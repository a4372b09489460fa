"""Redraw every picture: `python -m screenshots.make [NAME …]`. The runs they show are recorded on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from screenshots.runs import SECONDS_PER_STEP, START, STEPS, pretraining
from screenshots.search import search
from screenshots.segmentation import segmentation
from screenshots.sweep import sweep

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Picture:
    """One file of screenshots/: the viewer on a run after some keys."""

    name: str
    size: str = "160x45"
    keys: str = ""
    run: str = "pretraining"
    options: tuple[str, ...] = ()
    """Further words of the command line."""
    settings: tuple[tuple[str, str], ...] = ()
    """Variables of the environment that go before the usual settings."""


PICTURES = (
    Picture("run.svg"),
    Picture("narrow.svg", size="80x24"),
    Picture("crosshair.svg", size="120x40", keys="v <left> <left> <left>"),
    Picture("filter.svg", size="120x40", keys="/ loss"),
    Picture("chart.svg", size="120x40", keys="<enter>"),
    Picture("smoothing.svg", size="120x40", keys="/ accuracy <enter> m m g <enter>"),
    Picture("heat.svg", size="120x40", keys="<tab> y y <enter>"),
    Picture("light.svg", size="120x40", settings=(("LEET_THEME", "leet-light"),)),
    Picture("plain.svg", size="120x40", options=("--ascii",), settings=(("LEET_THEME", "leet-16"),)),
    Picture("help.svg", size="120x40", keys="?"),
    Picture(
        "media.svg",
        size="120x40",
        keys="3 [ c 3 m <ctrl+up> <ctrl+up> <ctrl+up> <left> <left> <left> l",
        run="segmentation",
    ),
    Picture(
        "workspace.svg", size="120x40", keys="<down> <space> <down> <space> <down> <down> <space> <up> c 2", run="sweep"
    ),
    Picture("compare.svg", size="120x40", keys="<down> <space> <down> <space> <down> <down> <space> C b", run="sweep"),
    Picture("groups.svg", size="120x40", keys="<ctrl+a> y / loss|acc <enter> G optimizer <enter> c 2 ]", run="search"),
    Picture("scatter.svg", size="120x40", keys="<ctrl+a> y K <right> n n n n n n n n n n n n", run="search"),
    Picture("console.svg", size="120x40", keys="[ ] 4 <ctrl+up> <ctrl+up> l <up> <up> <up> <up> <up>"),
    Picture("settings.svg", size="120x40", keys=", <down> <down> <down> <down>"),
    Picture("records.svg", size="120x40", keys="i : 1 2 0 1 <enter>"),
)


def main(names: list[str]) -> int:
    with tempfile.TemporaryDirectory() as directory:
        logs = {
            "pretraining": pretraining(Path(directory)),
            "segmentation": segmentation(Path(directory, "media")),
            "sweep": sweep(Path(directory, "sweep")),
            "search": search(Path(directory, "search")),
        }
        now = START + STEPS * SECONDS_PER_STEP + 120
        env = {**os.environ, "HOME": directory, "TERM": "xterm-256color", "TZ": "UTC", "LEET_NOW": str(now)}
        for picture in PICTURES:
            if names and picture.name not in names:
                continue
            command = [sys.executable, "-m", "leet", str(logs[picture.run]), "--screenshot", str(HERE / picture.name)]
            command += ["--size", picture.size, "--keys", picture.keys, *picture.options]
            subprocess.run(command, check=True, env=env | dict(picture.settings))
            print(f"screenshots/{picture.name}")
        if not names or "top.svg" in names:
            monitor(env)
    return 0


def monitor(env: dict[str, str]) -> None:
    """`leet top` after a minute on the machine that this runs on, with its own process only."""
    command = [sys.executable, "-m", "leet", "top", "--screenshot", str(HERE / "top.svg"), "--size", "120x40"]
    sampling = ["--interval", "500ms", "--after", "55s", "--keys", "f leet <space> top <enter> <tab>"]
    env = {name: value for name, value in env.items() if name != "LEET_NOW"}
    subprocess.run([*command, *sampling], check=True, env=env)
    print("screenshots/top.svg")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
