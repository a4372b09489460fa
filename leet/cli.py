"""The command `leet`: which door was asked for, and nothing heavier than that until it is known."""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from leet import __version__, streams

_HEADER_BYTES = 64


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: `module.main(argv, prog) -> int` runs it; the module is imported only then."""

    module: str
    summary: str


COMMANDS: dict[str, Command] = {
    "record": Command("recorder.command", "record this machine, and a command's output and exit code, as a run"),
    "top": Command("leet.tui.top_app", "show how busy this machine is: vitals, processes, charts (also: symon)"),
    "inspect": Command("leet.output.inspect", "look at the records of a log, or print them as text or JSON"),
    "plot": Command("leet.output.plot", "print a run's metrics as charts"),
    "export": Command("leet.output.export", "write a run's metrics as a table: CSV, JSON Lines, Parquet"),
    "doctor": Command("leet.output.doctor", "hold a run's or a project's logging against published limits"),
    "config": Command("leet.settings.command", "look at the settings, or change them"),
    "demo": Command("leet.demo.command", "train a small model, record it and watch it live"),
}

ALIASES = {"symon": "top"}
"""Other names of commands."""
RUN_OTHERS = ("record", "demo")
"""Commands that start programs of the user, whose environment is not ours to change."""

EPILOG = """\
A PATH named like a command is reached with a dot and a slash: leet ./record
PATH is a .wandb file, a run directory, or any other directory: all the runs below it are shown;
HOST:PATH or USER@HOST:PATH is one on another machine, fetched over ssh.
Without one: $WANDB_DIR, the run directory one stands in, or ./wandb.

In a list of runs `f` asks for some of them: state:running config.lr>0.01 sort:-summary.loss
  words, FIELD:TEXT, FIELD=VALUE, FIELD!=VALUE, FIELD>1, has:FIELD, sort:FIELD, not, or, ( )
  FIELD is name key id project entity group job notes tag host user state exit step parts
  created modified duration, config.PATH (a setting) or summary.PATH (a last value)"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status: 0 fine, 1 it could not be done, 2 wrong usage."""
    streams.prepare()
    if not sys.warnoptions:
        # Values of a log are as large as they like: a sum that overflows is an infinity, and nobody's mistake.
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        try:
            return _run(list(sys.argv[1:] if argv is None else argv))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe went away (`leet plot … | head`): silence.
        streams.give_up_output()
        return 1
    except streams.OutputFailed as error:
        streams.give_up_output()
        return fail(str(error))
    except KeyboardInterrupt:
        return 130


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in ALIASES:
        arguments[0] = ALIASES[arguments[0]]
    if arguments[:1] not in ([name] for name in RUN_OTHERS):
        # Starting threads for linear algebra, of which there is none here, takes longer than loading the rest of numpy.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if arguments and arguments[0] in COMMANDS:
        name = arguments.pop(0)
        more = {"browse": _browse} if name == "inspect" else {}
        return int(import_module(COMMANDS[name].module).main(arguments, prog=f"leet {name}", **more) or 0)
    if arguments and arguments[0] == "run":
        del arguments[0]
    elif mistake := _mistyped(arguments):
        return fail(mistake, 2)
    return view(arguments)


def _browse(log: Path) -> int:
    """`leet inspect` on a terminal."""
    from leet.tui.records_app import browse

    return browse(log)


def _mistyped(arguments: Sequence[str]) -> str:
    """What is wrong with a first word that is neither a path nor a command but was meant as one; empty if it is fine.

    It was meant as a command if it looks like one, or if more words than a viewer has a use for come behind it.
    """
    if not arguments or not arguments[0].isalpha() or os.path.lexists(arguments[0]):
        return ""
    from difflib import get_close_matches

    word = arguments[0]
    if close := get_close_matches(word.lower(), [*COMMANDS, "run"], n=1):
        return f"no command {word}; did you mean {close[0]}?"
    if arguments[1:] and not arguments[1].startswith("-"):
        return f"no command {word}; `leet --help` names all"
    return ""


def parser() -> argparse.ArgumentParser:
    """The arguments of the viewer, and the list of the other commands in its help."""
    commands = "\n".join(f"  {name:<9} {command.summary}" for name, command in COMMANDS.items())
    result = argparse.ArgumentParser(
        prog="leet",
        usage="leet [OPTIONS] [PATH]\n       leet COMMAND …",
        description="Watch a training run in the terminal.",
        epilog=f"commands (each has --help):\n  run       the viewer itself: leet run PATH\n{commands}\n\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument("path", nargs="?", metavar="PATH", help="the run, or the directory of runs, to show")
    result.add_argument("--version", action="version", version=f"leet {__version__}")
    look = result.add_argument_group("looks")
    look.add_argument("--theme", metavar="NAME", help="colours of the frame around the charts; `list` names all")
    look.add_argument("--ascii", action="store_true", help="draw with 7-bit characters only")
    look.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    picture = result.add_argument_group("pictures")
    picture.add_argument("--screenshot", metavar="FILE", help="draw off-screen into FILE.svg or FILE.txt and exit")
    picture.add_argument("--size", type=_size, metavar="WxH", help="size of the picture in cells (120x40)")
    picture.add_argument("--keys", metavar="KEYS", help='keys pressed before, as in "n / loss <enter>"')
    return result


def view(arguments: Sequence[str]) -> int:
    """`leet [PATH]`: the viewer, or a picture of it."""
    options = parser()
    args = options.parse_args(arguments)
    if args.screenshot is None and (args.size or args.keys):
        options.error("--size and --keys belong to --screenshot FILE")
    if args.screenshot is not None and not args.screenshot.endswith((".svg", ".txt")):
        options.error(f"--screenshot writes .svg or .txt, and {args.screenshot} is neither")
    if args.theme == "list":
        from leet.tui.themes import theme_names

        print("\n".join(theme_names()))
        return 0
    from leet.discovery import Found, NoRun, WorkspaceRoot, open_target

    if args.path and ":" in args.path and args.screenshot is None:
        _say_connecting(args.path)
        # Connecting takes a while, in which the rest can be loaded.
        threading.Thread(target=import_module, args=("leet.tui.app",), daemon=True).start()
    try:
        target = open_target(args.path, watched=args.screenshot is None)
    except NoRun as error:
        return fail(str(error))
    if args.screenshot is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        return fail("this is no terminal; use --screenshot FILE, or `leet plot` and `leet inspect` in scripts")

    found = target if isinstance(target, Found) else None
    runs = target if isinstance(target, WorkspaceRoot) else None
    if args.screenshot is not None and found is not None and (reason := _unreadable(found.log)):
        return fail(f"{found.log}: {reason}")

    if found is not None and found.remote is None and args.screenshot is None:
        from leet.reading.reader_process import ReaderProcess

        found = replace(found, process=ReaderProcess.ahead(found.log))
    # Start-up makes many objects and no garbage; the app switches collection on again when it is up.
    gc.disable()
    from leet.tui.terminal import detect, off_screen
    from leet.tui.themes import theme_names

    if args.theme is not None and args.theme not in theme_names():
        return fail(f"no theme {args.theme}; `leet --theme list` names all", 2)
    terminal = detect(os.environ, ascii_only=args.ascii, mouse=not args.no_mouse)
    if args.screenshot is not None:
        terminal = off_screen(terminal, ascii_only=args.ascii)
    from leet.tui.app import LeetApp

    app = LeetApp(
        found,
        workspace=runs.path if runs is not None else None,
        remote=runs.remote if runs is not None else None,
        terminal=terminal,
        theme=args.theme,
        live=args.screenshot is None,
    )
    if args.screenshot is not None:
        from leet.tui.screenshot import BadKeys, take

        try:
            take(app, args.screenshot, args.size or (120, 40), args.keys or "")
        except BadKeys as error:
            return fail(f"--keys: {error}", 2)
        except OSError as error:
            return fail(f"{args.screenshot}: {error.strerror or error}")
        return 0
    # The report of a crash is coloured, which standard error no longer lets through, and has no controls of a log.
    app.error_console.file = sys.__stderr__ or sys.stderr
    app.run(mouse=terminal.mouse)
    return view(arguments) if app.restarted() else app.return_code or 0


def _unreadable(log: Path) -> str:
    """Why there is no picture of a log, in one line; empty if there is one."""
    from leet.reading.blocks import UnsupportedLog, check_header

    try:
        with open(log, "rb", buffering=0) as file:
            check_header(file.read(_HEADER_BYTES))
    except UnsupportedLog as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def fail(message: str, status: int = 1) -> int:
    """Say in one line why the thing asked for was not done."""
    print(f"leet: {message}", file=sys.stderr)
    return status


def _size(text: str) -> tuple[int, int]:
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write it like 200x50")
    size = int(width), int(height)
    if not (20 <= size[0] <= 1000 and 6 <= size[1] <= 400):
        raise argparse.ArgumentTypeError("from 20x6 to 1000x400")
    return size


def _say_connecting(path: str) -> None:
    """Name the machine that is waited for, before there is a screen; nothing where the path is one here."""
    from leet.remote.address import BadAddress, parse

    with contextlib.suppress(BadAddress):
        address = parse(path)
        if address is not None and sys.stderr.isatty():
            print(f"connecting to {address.host}…", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
