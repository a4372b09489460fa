"""What is said of a text while it is typed: beside it, or below it where that would leave little room to type."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from leet.tui.widgets.status_line import MOST_ROWS, wrapped

BESIDE = 0.4
"""Share of the width that a remark may take beside the text."""


def remark_on(line: Widget, remark: Static, text: str, *, error: bool) -> None:
    """Show `text` in `remark`, a child of the one-row `line`, which gets more rows where the text needs them."""
    width = line.screen.size.width
    below = error and cell_len(text) > width * BESIDE
    rows = wrapped(text, width - 2)[:MOST_ROWS] if below else [text]
    line.styles.height = 1 + len(rows) if below else 1
    remark.set_class(error, "-error")
    remark.set_class(below, "-below")
    remark.update(Content("\n".join(rows)))
