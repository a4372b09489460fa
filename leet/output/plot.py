"""Metrics of a run as charts on standard output, for pipes and scripts."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leet.discovery import NoRun, expanded, locate
from leet.run_parts import told
from leet.streams import speaks_utf8

if TYPE_CHECKING:
    from leet.charts.spec import Floats, Spec
    from leet.model.run import RunModel

_CHARTS = 8
_NAMES_SAID = 6
_HEIGHT = 16
_WIDEST = 100
_WIDTH_OF_PIPES = 80


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `leet plot`."""
    parser.add_argument("path", nargs="?", metavar="PATH", help="a .wandb file, a run directory, or one with wandb/")
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="metrics whose names hold this regular expression; default: all"
    )
    parser.add_argument("--system", action="store_true", help="system metrics instead; patterns go by title or key")
    parser.add_argument("--all", action="store_true", help=f"print all charts, not the first {_CHARTS} alone")
    parser.add_argument("--last", type=_number(1, 10**12), metavar="N", help="only the last N points of each curve")
    parser.add_argument("--log", action="store_true", help="logarithmic y axis")
    parser.add_argument("--width", type=_number(16, 1000), metavar="N", help="columns (those of the terminal, else 80)")
    parser.add_argument("--height", type=_number(4, 400), default=_HEIGHT, metavar="N", help=f"rows ({_HEIGHT})")
    parser.add_argument("--ascii", action="store_true", help="draw with 7-bit characters only")


def main(argv: Sequence[str], prog: str = "leet plot") -> int:
    """The command line of `leet plot`; the exit status."""
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    add_arguments(parser)
    return run(parser.parse_intermixed_args(argv))


def run(args: argparse.Namespace) -> int:
    """Print what the arguments ask for; the exit status: 0 fine, 1 nothing to print, 2 a pattern that is none."""
    try:
        found = locate(args.path)
    except NoRun as error:
        return _fail(f"{error}{_path_first(args)}")
    path = found.log
    # Here on, not above: reading and drawing cost start-up that `--help` need not wait for.
    from leet.model.filter import TextFilter
    from leet.model.run import RunModel
    from leet.model.safe_text import clean
    from leet.reading.batch import Notice
    from leet.reading.blocks import UnsupportedLog
    from leet.reading.tail import read

    filters = [TextFilter(pattern) for pattern in args.patterns]
    for wanted in filters:
        if wanted.error:
            return _fail(f"{clean(wanted.text)!r} is no regular expression: {wanted.error}", 2)
    model = RunModel(path)
    try:
        for item in read(path):
            model.apply(item)
            if isinstance(item, Notice) and item.kind in ("unreadable", "unsupported"):
                return _fail(f"{found.name}: {item.text.removeprefix(f'{path.name} ')}")
    except UnsupportedLog as error:
        return _fail(f"{found.name}: {error}")
    except OSError as error:
        return _fail(f"{error.filename or path}: {error.strerror or error}")
    if model.skipped:
        from leet.output.skipped_text import skipped_text

        print(f"leet plot: {skipped_text(model.skipped, 'drawn')}", file=sys.stderr)
    charts = _system_charts(model, args) if args.system else _metric_charts(model, args)
    names = [title for _, title, _ in charts]
    chosen = [c for c in charts if not filters or any(f.matches(c[0]) or f.matches(c[1]) for f in filters)]
    if not chosen:
        return _fail(_none_of(path, names, args))
    if part := told(found.log):
        print(f"leet plot: {part}", file=sys.stderr)
    if found.choice:
        print(f"leet plot: {found.choice}", file=sys.stderr)
    shown = chosen if args.all else chosen[:_CHARTS]
    _print(shown, args)
    if len(shown) < len(chosen):
        print(f"leet plot: {len(shown):,} of {len(chosen):,} charts; --all prints all of them", file=sys.stderr)
    return 0


def _path_first(args: argparse.Namespace) -> str:
    """What to say to who gave a metric and no path; empty to others."""
    from shlex import quote

    from leet.model.safe_text import clean

    path = args.path or "."
    if path.startswith("/") or path.endswith(".wandb") or ":" in path or os.path.lexists(expanded(path)):
        return ""
    try:
        locate(".")
    except NoRun:
        return ""
    return f"; a path comes before metrics: leet plot . {clean(' '.join(map(quote, [path, *args.patterns])))}"


Chart = tuple[str, str, "Callable[[], Spec]"]
"""Key, title, and what makes the chart when it is printed."""


def _print(charts: Sequence[Chart], args: argparse.Namespace) -> None:
    from leet.output.plotext_adapter import draw

    width = _width(args)
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    for i, (_, _, spec) in enumerate(charts):
        if i:
            print()
        print(draw(spec(), width, args.height, color))


def _width(args: argparse.Namespace) -> int:
    if args.width:
        return int(args.width)
    if not sys.stdout.isatty():
        return _WIDTH_OF_PIPES
    return max(16, min(shutil.get_terminal_size().columns, _WIDEST))


def _metric_charts(model: RunModel, args: argparse.Namespace) -> list[Chart]:
    def spec(name: str) -> Spec:
        from leet.charts.spec import Spec, Trace

        store = model.metrics
        label, kind, x = store.x_of(name)
        x, y, nonfinite = _thinned(x, store.series(name).values, args)
        trace = Trace(name, x, y, nonfinite=nonfinite)
        over = f"over {label}" if label != "step" else ""
        return Spec(name, (trace,), x_kind=kind, log_y=args.log, note=over, ascii=_ascii(args))

    return [(name, name, partial(spec, name)) for name in model.metrics.names()]


def _system_charts(model: RunModel, args: argparse.Namespace) -> list[Chart]:
    from leet.model.system_store import SystemChart

    def spec(chart: SystemChart) -> Spec:
        from leet.charts.spec import Spec, Trace

        traces = []
        for label, x, y in model.system.traces(chart, columns=10**9):
            x, y, nonfinite = _thinned(x, y, args)
            traces.append(Trace(label, x, y, nonfinite=nonfinite))
        return Spec(
            chart.title,
            tuple(traces),
            unit=chart.unit,
            x_kind="clock",
            y_range=chart.y_range,
            log_y=args.log,
            note=model.system.note(chart),
            ascii=_ascii(args),
        )

    return [(c.key, c.title, partial(spec, c)) for c in model.system.charts()]


def _thinned(x: Floats, y: Floats, args: argparse.Namespace) -> tuple[Floats, Floats, int]:
    """The last points, as many as the width can show, and how many of them are not finite."""
    import numpy as np

    from leet.model.abscissa import Abscissa
    from leet.model.series import Series

    if args.last:
        x, y = x[-args.last :], y[-args.last :]
    series = Series()
    series.append(np.arange(len(y), dtype=np.int32), y)
    thin_x, thin_y = series.window(Abscissa.plain(x), None, None, 2 * _width(args))
    return thin_x, thin_y, series.nonfinite


def _ascii(args: argparse.Namespace) -> bool:
    # Python writes UTF-8 in the C locale too (PEP 540): what the terminal takes is told by the locale alone.
    if not speaks_utf8(os.environ):
        return True
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return bool(args.ascii) or encoding not in ("utf8", "utf16", "utf32", "gb18030")


def _none_of(log: Path, names: Sequence[str], args: argparse.Namespace) -> str:
    """One line on why there is nothing to print, and what there would be."""
    from leet.model.safe_text import clean
    from leet.output.still_written import may_grow

    kind = "system metric" if args.system else "metric"
    if not names:
        other = "" if args.system else "; --system prints what the machine did"
        return f"this log holds no {kind}s{' yet' if may_grow(log) else ''}{other}"
    some = ", ".join(clean(name) for name in names[:_NAMES_SAID])
    rest = f", … ({len(names):,} in all)" if len(names) > _NAMES_SAID else ""
    return f"no {kind} matches {' or '.join(clean(p) for p in args.patterns)}; there are {some}{rest}"


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no number from {least} to {most}")
        return int(text)

    return number


def _fail(message: str, status: int = 1) -> int:
    print(f"leet plot: {message}", file=sys.stderr)
    return status
