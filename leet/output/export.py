"""What a run logged, or what its machine did, as a table: CSV, JSON Lines or Parquet.

One row for each call of log(), one column for each metric in natural order, every value exact; of chosen metrics only
the rows that have one. The log is read to the end that it has now, finished or not, and what is damaged is left out
and counted.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leet.discovery import NoRun, locate
from leet.run_parts import told

if TYPE_CHECKING:
    from leet.model.filter import TextFilter
    from leet.output.export_rows import Table

_FORMATS = ("csv", "jsonl", "parquet")
_NAMES_SAID = 6
_NAMES_COMPARED = 2000
"""Names among which similar ones are sought, which takes long."""
_GLOB = re.compile(r"[^\\^$+{}()|]*")
_OF_GLOB = re.compile(r"(?<![.\])])\*|(?<![\])])\?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `leet export`."""
    parser.add_argument("path", nargs="?", metavar="PATH", help="a .wandb file, a run directory, or one with wandb/")
    parser.add_argument(
        "-m",
        "--metric",
        dest="patterns",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only metrics whose name holds this text, glob (train/*) or regular expression (^loss$), whatever the "
        "case; repeated: any of them",
    )
    parser.add_argument("--system", action="store_true", help="system metrics instead, one row for each sample")
    parser.add_argument("--format", choices=_FORMATS, help="default: what the name of FILE ends in, else csv")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write, replaced when all is done; - for stdout"
    )


def main(argv: Sequence[str], prog: str = "leet export") -> int:
    """The command line of `leet export`; the exit status."""
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(args: argparse.Namespace) -> int:
    """Write the table; the exit status: 0 fine, 1 it could not be done, 2 a pattern that is none."""
    try:
        found = locate(args.path)
    except NoRun as error:
        return _fail(str(error))
    path = found.log
    # Here on, not above: `--help` need not wait for numpy.
    from leet.output.export_formats import MissingLibrary
    from leet.output.export_rows import LogChanged
    from leet.reading.blocks import UnsupportedLog

    name = args.format or _format_of(args.output)
    to_stdout = args.output in (None, "-")
    if name == "parquet" and to_stdout and sys.stdout.isatty():
        return _fail("parquet is nothing for a terminal; name a file with -o FILE")
    target = os.path.expanduser(args.output or "")
    if not to_stdout and os.path.exists(target) and os.path.samefile(target, path):
        return _fail(f"{args.output} is the log itself; give another file")
    try:
        status = _export(path, args, name)
    except (UnsupportedLog, LogChanged) as error:
        return _fail(f"{found.name}: {error}")
    except MissingLibrary as error:
        return _fail(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"{error.filename or path}: {error.strerror or error}")
    if (part := told(found.log)) and status == 0:
        print(f"leet export: {part}", file=sys.stderr)
    if found.choice and status == 0:
        print(f"leet export: {found.choice}", file=sys.stderr)
    return status


def pattern_filter(pattern: str) -> TextFilter:
    """The filter that a pattern means: that of the viewer, as a glob where it has stars and nothing else to be a regex.

    `loss` is found anywhere in a name. `train/*`, `*loss` and `layer.?/w` are globs; `loss.*`, `^loss$` and `a|b` are
    regular expressions: a star behind a dot, a bracket or a parenthesis repeats that.
    """
    from leet.model.filter import TextFilter

    stars = sum(pattern.count(sign) for sign in "*?")
    is_glob = stars and _GLOB.fullmatch(pattern) and len(_OF_GLOB.findall(pattern)) == stars
    return TextFilter(pattern, "glob" if is_glob else "regex")


def _export(path: Path, args: argparse.Namespace, format_name: str) -> int:
    from leet.model.natural import natural_sorted
    from leet.model.safe_text import clean
    from leet.output.export_file import open_output
    from leet.output.export_formats import format_named
    from leet.output.export_rows import HistoryTable, SystemTable
    from leet.output.skipped_text import skipped_text

    filters = [pattern_filter(pattern) for pattern in args.patterns]
    for wanted in filters:
        if wanted.error:
            return _fail(f"{clean(wanted.text)!r} is no pattern: {wanted.error}", 2)
    written_as = format_named(format_name)
    with open(path, "rb", buffering=0) as file:
        table: Table = (SystemTable if args.system else HistoryTable)(file, every_row=not filters)
        names = natural_sorted(table.names())
        chosen = _choose(names, filters)
        if filters and not chosen:
            return _fail(_none_of(path, names, args))
        columns = {name: place for place, name in enumerate((*table.row_columns, *chosen))}
        with open_output(args.output) as out:
            written_as.write(table, columns, out)
    if not names:
        print(f"leet export: {_none_of(path, names, args)}", file=sys.stderr)
    if table.skipped:
        print(f"leet export: {skipped_text(table.skipped, 'exported')}", file=sys.stderr)
    return 0


def _choose(names: list[str], filters: Iterable[TextFilter]) -> list[str]:
    filters = list(filters)
    if not filters:
        return names
    chosen = {name for wanted in filters for name in (*wanted.select(names), wanted.text)}
    return [name for name in names if name in chosen]


def _format_of(output: str | None) -> str:
    ending = Path(output or "").suffix.lower().removeprefix(".")
    return {"ndjson": "jsonl"}.get(ending, ending if ending in _FORMATS else "csv")


def _none_of(log: Path, names: Sequence[str], args: argparse.Namespace) -> str:
    """One line on why there is nothing to export, and what there would be."""
    from difflib import get_close_matches

    from leet.model.safe_text import clean
    from leet.output.still_written import may_grow

    kind = "system metric" if args.system else "metric"
    if not names:
        other = "" if args.system else "; --system exports what the machine did"
        return f"this log holds no {kind}s{' yet' if may_grow(log) else ''}{other}"
    near: dict[str, None] = {}
    for pattern in args.patterns:
        near.update((name, None) for name in get_close_matches(pattern, names[:_NAMES_COMPARED], _NAMES_SAID, 0.4))
    said = list(near)[:_NAMES_SAID] or list(names[:_NAMES_SAID])
    rest = f", … ({len(names):,} in all)" if len(names) > len(said) else ""
    patterns = " or ".join(clean(pattern) for pattern in args.patterns)
    return f"no {kind} matches {patterns}; there are {', '.join(map(clean, said))}{rest}"


def _fail(message: str, status: int = 1) -> int:
    print(f"leet export: {message}", file=sys.stderr)
    return status
