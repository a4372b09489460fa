"""Tags of runs, each in a colour of its own, the same wherever it stands."""

from __future__ import annotations

import zlib

from rich.style import Style

from leet.charts import palettes
from leet.settings.store import settings
from leet.tui.widgets.painted import Painted

BETWEEN = ", "


def tag_pieces(widget: Painted, text: str, plain: Style) -> list[tuple[str, Style]]:
    """`text`, tags with commas between them and fit to be printed, as pieces of a line in `widget`.

    Where there are no colours all of it is `plain`, whose background stays in any case.
    """
    if widget.app.no_color:
        return [(text, plain)]
    pieces: list[tuple[str, Style]] = []
    for place, tag in enumerate(text.split(BETWEEN)):
        if place:
            pieces.append((BETWEEN, plain))
        pieces.append((tag, plain + Style(color=_color(widget, tag.strip(" …")))))
    return pieces


def _color(widget: Painted, tag: str) -> str:
    number, theme = zlib.crc32(tag.encode("utf-8", errors="replace")), widget.app.current_theme
    if widget.app.native_ansi_color:
        return palettes.ansi(number, theme.dark)
    palette = palettes.PALETTES[settings().choice("colors.tags")]
    return palettes.legible(palette.series(number, theme.dark), widget.background_colors[1].hex[:7].lower())
