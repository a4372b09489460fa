"""Pages of HTML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recorder.media.content import Content
from recorder.media.media import Json, Media, file_of

_STYLE = '<base target="_blank"><link rel="stylesheet" type="text/css" href="https://app.wandb.ai/normalize.css" />'
"""What the SDK puts into the head of a page; it is fetched by the browser that shows the page."""


class Html(Media):
    """A page of a row.

    Args:
        data: HTML, a file object with HTML, or the path of a file whose name ends in `.html`.
        inject: whether a style sheet and `target="_blank"` are put into its head.
        data_is_not_path: whether text is HTML even if there is a file of that name.

    Raises ValueError for data of another kind, OSError for a file that cannot be read.
    """

    TYPE = "html-file"
    DIRECTORY = "media/html"

    def __init__(self, data: Any, inject: bool = True, data_is_not_path: bool = False) -> None:
        path = _path(data) if not data_is_not_path else None
        if path is not None:
            self.html = path.read_text(encoding="utf-8")
        elif isinstance(data, str):
            self.html = data
        elif hasattr(data, "read"):
            if hasattr(data, "seek"):
                data.seek(0)
            self.html = data.read()
        else:
            raise ValueError(f"HTML is text, a file object or the path of a file, not {type(data).__qualname__}")
        if inject:
            self.html = _styled(self.html)
        if inject or path is None:
            super().__init__(Content(self.html.encode("utf-8", "replace"), extension=".html"))
        else:
            super().__init__(file_of(path))

    @classmethod
    def batch(cls, items: Sequence[Any], objects: Sequence[Json]) -> Json:
        """`html`: the pages one by one."""
        return {"_type": "html", "count": len(items), "html": list(objects)}


def _path(data: Any) -> Path | None:
    if not isinstance(data, str | os.PathLike):
        return None
    try:
        return Path(data) if os.path.splitext(data)[1] == ".html" and os.path.isfile(data) else None
    except ValueError:  # text with a NUL character is no path
        return None


def _styled(html: str) -> str:
    """The page with the style in its head, wherever that is."""
    if "<head>" in html:
        html = html.replace("<head>", f"<head>{_STYLE}", 1)
    elif "<html>" in html:
        html = html.replace("<html>", f"<html><head>{_STYLE}</head>", 1)
    else:
        html = _STYLE + html
    return html.strip()
