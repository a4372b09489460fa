"""How soon a person sees something: first frame of a small run, and the commands without a screen."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.programs import OURS, THEIRS, environment
from benchmarks.terminal import Terminal


def small_run(directory: Path) -> Path:
    """Record a run of 200 rows × 6 metrics with our recorder, in a process of its own; its log."""
    script = (
        "import math, recorder as wandb\n"
        f"with wandb.init(dir={str(directory)!r}, id='small', project='bench', settings={{'console': 'off'}}) as run:\n"
        "    for i in range(200):\n"
        "        run.log({'train/loss': 1 / (i + 1), 'train/accuracy': 1 - 1 / (i + 2), 'lr': 1e-3, 'epoch': i // 20,\n"
        "                 'gradient/norm': 1 + math.sin(i / 9), 'validation/loss': 1.2 / (i + 1)})\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
    return next(directory.glob("wandb/offline-run-*/run-small.wandb"))


def command_time(arguments: list[str], env: dict[str, str], repeats: int = 9) -> float:
    """Median seconds of a whole process, after one to warm up."""
    times = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        times.append(time.perf_counter() - started)
    return median(times[1:])


BARE = (
    [
        sys.executable,
        "-c",
        "from textual.app import App\nfrom textual.widgets import Static\n"
        "class Bare(App):\n    BINDINGS = [('q', 'quit', 'quit')]\n"
        "    def compose(self): yield Static('one two three four')\nBare().run()",
    ],
    "three four",
)
"""The least that a Textual app can be, and what it writes: how fast this machine is today."""


def first_frame(command: list[str], text: str, env: dict[str, str], repeats: int = 9) -> float:
    """Median seconds from the start of a process until it has written `text`, as bytes, after two to warm up."""
    times = []
    for _ in range(repeats + 2):
        terminal = Terminal(command, env=env)
        times.append(terminal.until_bytes(text.encode(), 10.0))
        terminal.close()
    return median(times[2:])


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        log = small_run(directory)
        env = environment(directory)
        for program, command, text in (
            ("a bare Textual app", *BARE),
            ("leet", [*OURS, str(log)], "train/loss"),
            ("wandb leet", [*THEIRS, str(log)], "train/loss"),
        ):
            print(f"{program:<20} first frame of a small run after {first_frame(command, text, env):.2f} s")
        for words in (["--version"], ["--help"], ["inspect", "--summary", str(log)], ["inspect", "--json", str(log)]):
            print(f"leet {words[0]:<10} {' '.join(words[1:-1]):<10} {command_time([*OURS, *words], env):.3f} s")
        print(f"leet plot                  {command_time([*OURS, 'plot', str(log)], env):.3f} s")
        python = [sys.executable, "-c"]
        imported = command_time([*python, "import recorder"], env) - command_time([*python, "pass"], env)
        print(f"import recorder            {imported * 1000:.0f} ms")


if __name__ == "__main__":
    main()
