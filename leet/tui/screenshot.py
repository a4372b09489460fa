"""Pictures of the viewer: drawn off-screen, after everything is loaded and the keys are pressed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from leet.tui.app import FrameApp, LeetApp

NAMES = {
    "enter": "enter",
    "return": "enter",
    "esc": "escape",
    "escape": "escape",
    "tab": "tab",
    "space": "space",
    "up": "up",
    "down": "down",
    "left": "left",
    "right": "right",
    "home": "home",
    "end": "end",
    "pgup": "pageup",
    "pageup": "pageup",
    "pgdn": "pagedown",
    "pagedown": "pagedown",
    "backspace": "backspace",
    "delete": "delete",
    "lt": "less_than_sign",
}
_TOKEN = re.compile(r"<([^<>]+)>|(\S)")


class BadKeys(Exception):  # noqa: N818  an answer to the person
    """A key that has no such name."""


def parse_keys(text: str) -> Iterator[str]:
    """`n / loss <enter> <ctrl+l>` → Textual's names of the keys. Blanks only separate; `<space>` is one."""
    for match in _TOKEN.finditer(text):
        if match[2]:
            yield match[2]
            continue
        *modifiers, name = match[1].lower().split("+")
        if len(name) > 1 and name not in NAMES and not re.fullmatch(r"f\d{1,2}", name):
            raise BadKeys(f"no key is called <{match[1]}>; there are {', '.join(f'<{n}>' for n in NAMES)}, <ctrl+x>")
        if any(m not in ("ctrl", "shift", "alt") for m in modifiers):
            raise BadKeys(f"<{match[1]}>: a key goes with ctrl+, shift+ or alt+ only")
        if not modifiers and len(name) == 1:
            yield match[1]
        else:
            from textual.keys import _character_to_key

            named = NAMES.get(name) or (_character_to_key(name) if len(name) == 1 else name)
            yield "+".join([*modifiers, named])


def take(app: LeetApp, path: str, size: tuple[int, int], keys: str) -> None:
    """Run `app` without a terminal and write its frame to `path`, which ends in .svg or .txt."""
    presses = list(parse_keys(keys))
    frame: list[str] = []

    async def drive(pilot: Pilot[object]) -> None:
        await app.panes_screen.loaded.wait()
        await pilot.pause()
        # Keys act on what is seen, and that may be an earlier part of the log.
        app.panes_screen.paint_now()
        await pilot.pause()
        for key in presses:
            await pilot.press(key)
            await _settled(app, pilot)
        await pilot.pause()
        await app.panes_screen.loaded.wait()
        await pilot.pause()
        paint_now = getattr(app.screen, "paint_now", None)
        if paint_now is not None:
            paint_now()
        await pilot.pause()
        frame.append(svg_of(app) if path.endswith(".svg") else text_of(app))
        app.exit()

    app.run(headless=True, size=size, auto_pilot=drive)
    if not frame:
        raise OSError("the viewer ended before its picture was taken")
    Path(path).write_text(frame[0] if frame[0].endswith("\n") else frame[0] + "\n", encoding="utf-8")


async def _settled(app: FrameApp, pilot: Pilot[object]) -> None:
    """A screen that a key has opened, and that reads something first, has read it: the next key is meant for that."""
    await pilot.pause()
    loaded = getattr(app.screen, "loaded", None)
    if loaded is not None:
        await loaded.wait()


def svg_of(app: FrameApp) -> str:
    """What is on the screen as a picture."""
    from leet.tui.picture import svg

    ground = app.theme_variables.get("background", "")
    if not ground.startswith("#"):  # the terminal's own
        ground = app.ansi_theme.background_color.hex
    lines = app.screen._compositor.render_strips()
    return svg(lines, (app.size.width, app.size.height), app.ansi_theme, ground[:7])


def text_of(app: FrameApp) -> str:
    """What is on the screen as plain text, without blanks at the ends of lines."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines[: app.size.height])
