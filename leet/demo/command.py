"""`leet demo`: start the training in a child process and open the viewer on its run."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from leet.cli import view

START_TIMEOUT = 20.0
STOP_TIMEOUT = 10.0


def main(argv: Sequence[str] | None = None, prog: str = "leet demo") -> int:
    """Train, watch (unless told not to), and print where the run is kept.

    The exit status is that of the training, or of the viewer if only that failed.
    """
    parser = argparse.ArgumentParser(prog=prog, description="Train a small model, record it and watch it live.")
    parser.add_argument("--seconds", type=_seconds, default=60.0, metavar="N", help="how long to train (default: 60)")
    parser.add_argument("--no-view", action="store_true", help="only train and record, without the viewer")
    parser.add_argument(
        "--dir", type=Path, default=Path("leet-demo"), metavar="D", help="where the run goes (default: leet-demo)"
    )
    args = parser.parse_args(argv)
    if args.no_view or (sys.stdin.isatty() and sys.stdout.isatty()):
        return run(args.dir, args.seconds, watch=not args.no_view)
    print(f"{prog}: this is no terminal, so the charts are printed when the training is over", file=sys.stderr)
    return run(args.dir, args.seconds, watch=False, charts=True)


def run(directory: Path, seconds: float, watch: bool, charts: bool = False) -> int:
    """Start the training, show its run if `watch`, and wait for its end; the exit status as for `main`.

    With `charts` they are printed afterwards.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(
            f"leet demo: cannot write to {directory} ({error.strerror}); name another with --dir",
            file=sys.stderr,
        )
        return 1
    run_id = "demo" + secrets.token_hex(2)
    command = [
        *(sys.executable, "-m", "leet.demo.training"),
        *("--seconds", str(seconds), "--dir", str(directory), "--id", run_id),
    ]
    complaints = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if watch else None,
        stderr=complaints,
    )
    viewer_code = 0
    log: Path | None = None
    try:
        log = _wait_for_log(directory, run_id, child)
        if log is not None and watch:
            started = time.monotonic()
            viewer_code = view([str(log)])
            if child.poll() is None:
                print(f"The training was ended after {time.monotonic() - started:.0f} of {seconds:g} s.")
                _stop(child)
        child.wait()
    except KeyboardInterrupt:
        _stop(child)
    if log is None:
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip() or "it said nothing"
        print(f"leet demo: the training did not start: {said.splitlines()[-1]}", file=sys.stderr)
        return 1
    if charts:
        from leet.output.plot import main as plot

        plot([str(log)], prog="leet plot")
    print(f"The run is kept in {log.parent}\nWatch it again with: leet {shlex.quote(os.path.relpath(directory))}")
    return max(child.returncode, 0) or viewer_code


def _wait_for_log(directory: Path, run_id: str, child: subprocess.Popen[bytes]) -> Path | None:
    """The log of the child's run once it exists; None if the child ends or takes too long without one."""
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        ended = child.poll() is not None
        found = sorted(directory.glob(f"wandb/*-{run_id}/run-{run_id}.wandb"))
        if found:
            return found[-1]
        if ended:
            return None
        time.sleep(0.02)
    _stop(child)
    return None


def _stop(child: subprocess.Popen[bytes]) -> None:
    """End the training the way ctrl+c does, so that its run is finished properly; by force if it will not."""
    if child.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGINT)
    try:
        child.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds
