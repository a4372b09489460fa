"""Figures of plotly."""

from __future__ import annotations

from typing import Any

from recorder.media.json_file import json_content
from recorder.media.media import Media


class Plotly(Media):
    """A figure of plotly, as JSON. Raises ValueError for something else."""

    TYPE = "plotly-file"
    DIRECTORY = "media/plotly"
    BATCH = False

    def __init__(self, val: Any) -> None:
        if not hasattr(val, "to_plotly_json"):
            raise ValueError(f"a figure of plotly is needed, not {type(val).__qualname__}")
        super().__init__(json_content(val.to_plotly_json(), ".plotly.json"))
