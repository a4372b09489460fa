"""What the overview, the status line and an empty pane say about a run: text from the model, nothing drawn."""

from __future__ import annotations

from typing import Literal

from leet.model.filter import TextFilter
from leet.model.run import RunModel
from leet.model.safe_text import clean
from leet.model.state import RunState
from leet.model.units import format_age, format_bytes, format_duration, format_value
from leet.tui.feed import RunFeed
from leet.tui.widgets.overview import Row, Section
from leet.tui.widgets.status_line import Part

Tone = Literal["live", "good", "warn", "bad"]

_LOOKS: dict[str, tuple[str, Tone]] = {
    "waiting": ("○", "warn"),
    "running": ("●", "live"),
    "finished": ("✓", "good"),
    "failed": ("✗", "bad"),
    "crashed": ("✗", "bad"),
}


def look(state: RunState) -> tuple[str, Tone]:
    """The sign of a state and the tone of its colour; the word beside it tells it without colour."""
    return _LOOKS[state.name]


def overview_sections(model: RunModel, now: float) -> list[Section]:
    """The run's identity, then environment, config and summary as flat lists."""
    identity, state = model.identity, model.state(now)
    sign, tone = look(state)
    head = [Row("state", f"{sign} {state}", f"overview--{tone}")]
    for key, value, value_tone in (
        ("name", identity.display_name, "strong"),
        ("id", identity.run_id, "value"),
        ("project", "/".join(part for part in (identity.entity, identity.project) if part), "value"),
        ("group", identity.group, "value"),
        ("job", identity.job_type, "value"),
        ("tags", ", ".join(identity.tags), "tag"),
        ("notes", identity.notes, "value"),
        ("runtime", format_duration(model.runtime) if model.runtime else "", "value"),
    ):
        if value:
            head.append(Row(key, clean(value), f"overview--{value_tone}"))
    if model.skipped:
        lost = sum(skipped.length for skipped in model.skipped)
        head.append(Row("damage", f"{format_bytes(lost)} skipped in {len(model.skipped)} places", "overview--warn"))
    return [
        Section("", head, 2.0),
        Section("Environment", rows_of(model.environment), 1.0),
        Section("Config", rows_of(model.config), 1.5),
        Section("Summary", rows_of(model.summary), 2.0),
    ]
