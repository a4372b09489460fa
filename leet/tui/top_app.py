"""`leet top`: the machine that it runs on, live."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leet.settings.store import settings

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from leet.tui.terminal import Terminal

_SHORTEST = 0.1
_LONGEST = 3600.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|[smh])")
_PATIENCE = 20.0
"""Seconds that a picture waits for the first samples."""


def main(argv: Sequence[str], prog: str = "leet top") -> int:
    """The command line of `leet top`; the exit status."""
    parser = argparse.ArgumentParser(
        prog=prog, description="Show how busy this machine is: vitals, processes, charts.", allow_abbrev=False
    )
    add, usual = parser.add_argument, settings().number("top.interval")
    add(
        "--interval",
        type=interval,
        default=usual,
        metavar="D",
        help=f"time between two samples: 2, 2s, 500ms, 1m ({usual:g}s)",
    )
    add("--record", action="store_true", help="keep what is shown as a run; R begins and ends that too")
    add("--dir", default=".", metavar="DIR", help="the directory in which wandb/ is made for that (here)")
    look = parser.add_argument_group("looks")
    look.add_argument("--theme", metavar="NAME", help="colours of the frame; `leet --theme list` names all")
    look.add_argument("--ascii", action="store_true", help="draw with 7-bit characters only")
    look.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    picture = parser.add_argument_group("pictures")
    picture.add_argument("--screenshot", metavar="FILE", help="draw off-screen into FILE.svg or FILE.txt and exit")
    picture.add_argument("--size", metavar="WxH", help="size of the picture in cells (120x40)")
    picture.add_argument("--after", type=interval, metavar="D", help="how long to sample before (two samples)")
    picture.add_argument("--keys", metavar="KEYS", help='keys pressed before, as in "t e"')
    args = parser.parse_args(argv)
    if args.screenshot is None:
        if args.size or args.keys or args.after:
            parser.error("--size, --after and --keys belong to --screenshot FILE")
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return _fail("this is no terminal; use --screenshot FILE, or `leet record` in scripts")
    elif not args.screenshot.endswith((".svg", ".txt")):
        parser.error(f"--screenshot writes .svg or .txt, and {args.screenshot} is neither")
    if args.record and not os.path.isdir(args.dir):
        return _fail(f"{args.dir} is no directory; --dir says where to record")
    return _show(args)


def interval(text: str) -> float:
    """Seconds of `2`, `2s`, `500ms` or `1m30s`. Raises ArgumentTypeError."""
    if re.fullmatch(r"\d+(\.\d*)?|\.\d+", text):
        seconds = float(text)
    elif text and not _DURATION.sub("", text):
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text))
    else:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write it like 2s, 500ms or 1m")
    if not _SHORTEST <= seconds <= _LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r}: from {_SHORTEST * 1000:.0f}ms to {_LONGEST / 3600:.0f}h")
    return seconds


def _show(args: argparse.Namespace) -> int:
    from leet.tui.terminal import detect, off_screen
    from leet.tui.themes import theme_names

    if args.theme is not None and args.theme not in theme_names():
        return _fail(f"no theme {args.theme}; `leet --theme list` names all", 2)
    terminal = detect(os.environ, ascii_only=args.ascii, mouse=not args.no_mouse)
    if args.screenshot is not None:
        return _take(args, off_screen(terminal, ascii_only=args.ascii))
    from leet.tui.top_frame import TopApp

    app = TopApp(terminal, args.interval, args.dir, record=args.record, theme=args.theme)
    app.error_console.file = sys.__stderr__ or sys.stderr
    app.run(mouse=terminal.mouse)
    if app.last_recording:
        print(f"leet top: the run is in {app.last_recording}", file=sys.stderr)
    return _show(args) if app.restarted() else app.return_code or 0


def _take(args: argparse.Namespace, terminal: Terminal) -> int:
    """A picture, once there is something to see."""
    import asyncio

    from leet.tui.screenshot import BadKeys, parse_keys, svg_of, text_of
    from leet.tui.top_frame import TopApp

    width, _, height = (args.size or "120x40").lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and 20 <= int(width) <= 1000 and 6 <= int(height) <= 400):
        return _fail(f"--size {args.size} is no size from 20x6 to 1000x400", 2)
    try:
        presses = list(parse_keys(args.keys or ""))
    except BadKeys as error:
        return _fail(f"--keys: {error}", 2)
    app = TopApp(terminal, args.interval, args.dir, record=args.record, theme=args.theme, kept=False)
    frame: list[str] = []

    async def drive(pilot: Pilot[object]) -> None:
        await asyncio.wait_for(app.top_screen.sampled.wait(), _PATIENCE)
        await asyncio.sleep(args.after or 0.0)
        for key in presses:
            await pilot.press(key)
        await pilot.pause()
        app.top_screen.paint_now()
        await pilot.pause()
        frame.append(svg_of(app) if args.screenshot.endswith(".svg") else text_of(app))
        app.exit()

    app.run(headless=True, size=(int(width), int(height)), auto_pilot=drive)
    if not frame:
        return _fail("it ended before its picture was taken")
    try:
        Path(args.screenshot).write_text(frame[0].rstrip("\n") + "\n", encoding="utf-8")
    except OSError as error:
        return _fail(f"{args.screenshot}: {error.strerror or error}")
    return 0


def _fail(message: str, status: int = 1) -> int:
    print(f"leet top: {message}", file=sys.stderr)
    return status
