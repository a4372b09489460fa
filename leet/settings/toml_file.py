"""The file of settings: read leniently, line by line where it must be, and written with its comments and order kept.

A line that is no TOML costs that line and nothing else: it is taken for a comment, and said. When the file is written
the next time it is one, behind `# not understood:`, so that nothing is lost.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from leet.settings.store import Problem, Settings
from leet.settings.table import SETTINGS, Value, WrongValue
from leet.whole_file import replacing

MOST_BYTES = 1 << 20
"""A file of settings is no longer than this."""
MOST_MENDED = 50
"""Lines that may be wrong before the whole file counts as something else."""
KEYS = "keys"
"""The table that gives commands other keys."""
MARK = "# not understood: "
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

_AT = re.compile(r"\(at line (\d+), column \d+\)$")
_HEADER = re.compile(r"\s*\[\[?([^\[\]]*)\]")
_KEY = re.compile(r"""\s*((?:[\w\-.\s]|"[^"]*"|'[^']*')+?)\s*=""")
_PARTS = re.compile(r""""([^"]*)"|'([^']*)'|([\w\-]+)""")


class Unreadable(Exception):  # noqa: N818 - it is the file that is
    """There is something at the path, and it cannot be read as text; says why."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A text of which TOML can be made: wrong lines are comments."""

    text: str
    problems: tuple[tuple[int, str], ...]
    """Line, from 1, and what is wrong with it."""


def read(path: Path) -> Settings:
    """The settings that a file gives. Never raises: what is wrong is listed in `problems`."""
    place = path.name
    try:
        text = _text(path)
    except Unreadable as error:
        return Settings(path, problems=(Problem(str(path), f"{error}; the defaults are used"),))
    mended = mend(text)
    problems = [(line, what) for line, what in mended.problems]
    values: dict[str, Value] = {}
    keys: dict[str, tuple[str, ...]] = {}
    key_lines: dict[str, int] = {}
    value_lines: dict[str, int] = {}
    lines = _lines_of_names(mended.text)
    for name, stored in _flat(tomllib.loads(mended.text)):
        line = lines.get(name, 0)
        if name[0] == KEYS and len(name) == 2:
            try:
                keys[name[1]] = _keys(stored)
                key_lines[name[1]] = line
            except WrongValue as error:
                problems.append((line, f"{'.'.join(name)} {error}"))
            continue
        dotted = ".".join(name)
        try:
            if dotted not in SETTINGS:
                problems.append((line, unknown(dotted)))
            else:
                values[dotted] = SETTINGS[dotted].read(stored)
                value_lines[dotted] = line
        except WrongValue as error:
            problems.append((line, f"{dotted} {error}"))
    return Settings(
        path,
        from_file=MappingProxyType(values),
        keys=MappingProxyType(keys),
        key_lines=MappingProxyType(key_lines),
        lines=MappingProxyType(value_lines),
        problems=tuple(Problem(f"{place}:{line}" if line else place, what) for line, what in sorted(problems)),
    )


def unknown(name: str) -> str:
    """That there is no such setting, and which one may be meant."""
    from difflib import get_close_matches

    shown = "".join(char if char.isprintable() else "?" for char in name[:80])
    inside = [known for known in SETTINGS if known.startswith(f"{name}.")]
    if inside:
        return f"{shown} is a group of settings; it holds {', '.join(known[len(name) + 1 :] for known in inside[:4])} …"
    last = name.rpartition(".")[2]
    close = [known for known in SETTINGS if known.rpartition(".")[2] == last]
    close = close or get_close_matches(name, SETTINGS, n=1) or get_close_matches(last, SETTINGS, n=1)
    close = close or [known for known in SETTINGS if get_close_matches(last, [known.rpartition(".")[2]], cutoff=0.75)]
    return f"there is no setting {shown}" + (f"; did you mean {close[0]}?" if close else "")


def _text(path: Path) -> str:
    try:
        # A pipe or a device would keep us waiting.
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("is no regular file")
        with open(path, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
    if len(raw) > MOST_BYTES:
        raise Unreadable("is too long for a file of settings")
    return raw.decode("utf-8-sig", errors="surrogateescape").replace("\r\n", "\n")


def mend(text: str) -> Mended:
    """Turn the lines that are no TOML into comments, each with the reason."""
    lines = text.split("\n")
    problems: list[tuple[int, str]] = []
    for index, written in enumerate(lines):
        if any("\udc80" <= char <= "\udcff" for char in written):
            problems.append((index + 1, "is no UTF-8; the line is left out"))
            lines[index] = _comment(written)
    for _ in range(MOST_MENDED):
        wrong = _first_wrong("\n".join(lines))
        if wrong is None:
            return Mended("\n".join(lines), tuple(problems))
        line, what = wrong
        if not 1 <= line <= len(lines) or lines[line - 1].lstrip().startswith("#"):
            break
        header = lines[line - 1].lstrip().startswith("[")
        out = "the line and what stands below it are" if header else "the line is"
        problems.append((line, f"is no TOML: {what}; {out} left out"))
        lines[line - 1] = _comment(lines[line - 1])
        while header and line < len(lines) and not lines[line].lstrip().startswith("["):
            # What stands below belongs to no table now, and must not slip into the one before.
            if lines[line].strip() and not lines[line].lstrip().startswith("#"):
                lines[line] = _comment(lines[line])
            line += 1
    first = problems[0] if problems else (wrong[0] if wrong else 0, "is no TOML")
    what = f"{first[1]}; nothing of the file can be read, the defaults are used"
    return Mended(
        "\n".join(_comment(line) if line.strip(" ") else line for line in text.split("\n")), ((first[0], what),)
    )


def _first_wrong(text: str) -> tuple[int, str] | None:
    """Line and fault of the first thing that is no TOML; line 0 where it is not known."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what = str(error)
        if at := _AT.search(what):
            return int(at[1]), what[: at.start()].strip().lower()
        return text.count("\n") + 1 if "end of document" in what else 0, what.lower()
    except RecursionError:
        return 0, "it is nested too deeply"
    except ValueError as error:  # a number of more digits than Python reads
        return 0, str(error).partition(";")[0].lower()
    return None


def _comment(line: str) -> str:
    """The line as a comment. TOML allows no control characters there either: they are written out."""
    return MARK + "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)


def _flat(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in table.items():
        name = (*above, key)
        if isinstance(value, dict) and value:
            yield from _flat(value, name)
        elif not isinstance(value, dict):
            yield name, value


def _lines_of_names(text: str) -> dict[tuple[str, ...], int]:
    """Where each key stands, as far as a look at single lines tells."""
    table: tuple[str, ...] = ()
    found: dict[tuple[str, ...], int] = {}
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        if fence:
            if fence in line:
                fence = ""
            continue
        if header := _HEADER.match(line):
            table = _parts(header[1])
        elif (key := _KEY.match(line)) and not line.lstrip().startswith("#"):
            found.setdefault((*table, *_parts(key[1])), number)
        for mark in ('"""', "'''"):
            if line.count(mark) % 2:
                fence = mark
    return found


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(next(part for part in parts if part or part == parts[-1]) for parts in _PARTS.findall(dotted))


def _keys(stored: object) -> tuple[str, ...]:
    """Keys of a command: a text with commas between them, or a list; an empty one takes all keys away."""
    given = stored.split(",") if isinstance(stored, str) else stored
    if not isinstance(given, list) or not all(isinstance(key, str) for key in given):
        raise WrongValue('takes a key such as "ctrl+f", or a list of keys')
    return tuple(key.strip() for key in given if key.strip())


def write(path: Path, changes: Mapping[str, Value], removed: frozenset[str] = frozenset()) -> None:
    """Change settings in the file and leave the rest of it as it is. OSError where it cannot be written.

    `removed` are taken out, so that they have their defaults. A link is followed; the file is replaced in one move,
    unless nobody may write to it: that would replace it all the same, and is not what its owner meant.
    """
    import tomlkit

    path = Path(os.path.realpath(path))
    if path.exists() and not path.stat().st_mode & _WRITABLE:
        raise PermissionError(errno.EACCES, "it is read-only", str(path))
    try:
        text = mend(_text(path)).text if path.exists() else ""
    except Unreadable as error:
        raise OSError(0, str(error), str(path)) from None
    document = tomlkit.parse(text)
    for name in removed:
        _remove(document, name.split("."))
    for name, value in changes.items():
        _put(document, name.split("."), SETTINGS[name].stored(value))
    _replace(path, tomlkit.dumps(document))


def _put(table: Any, name: list[str], value: object) -> None:
    import tomlkit

    *above, last = name
    for part in above:
        if not isinstance(table.get(part), dict):
            table[part] = tomlkit.table(is_super_table=part != above[-1])
        table = table[part]
    table[last] = value


def _remove(table: Any, name: list[str]) -> None:
    """Take a setting out, and the tables above it that hold nothing more, not even a comment."""
    first, *rest = name
    if rest:
        below = table.get(first)
        if not isinstance(below, dict):
            return
        _remove(below, rest)
        if below or below.as_string().strip():  # type: ignore[attr-defined]
            return
    table.pop(first, None)


def _replace(path: Path, text: str) -> None:
    """Put `text` there in one move, with the permissions that the file had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644)
