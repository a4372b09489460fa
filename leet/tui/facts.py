"""What the overview, the status line and an empty pane say about a run: text from the model, nothing drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, overload

from leet.model.filter import TextFilter
from leet.model.run import RunModel
from leet.model.safe_text import clean
from leet.model.state import RunState
from leet.model.units import format_age, format_bytes, format_duration, format_value
from leet.tui.commands import keys_in_words
from leet.tui.feed import RunFeed
from leet.tui.messages import Subject
from leet.tui.widgets.overview_sections import Row, Section
from leet.tui.widgets.status_line import Part

Tone = Literal["live", "good", "warn", "bad"]

_LOOKS: dict[str, tuple[str, Tone]] = {
    "waiting": ("○", "warn"),
    "reading": ("◌", "warn"),
    "running": ("●", "live"),
    "finished": ("✓", "good"),
    "failed": ("✗", "bad"),
    "crashed": ("✗", "bad"),
    "unreadable": ("✗", "bad"),
}


def look(state: RunState) -> tuple[str, Tone]:
    """The sign of a state and the tone of its colour; the word beside it tells it without colour."""
    return ("◌", "warn") if state.doubtful else _LOOKS[state.name]


class _Rows(Sequence[Row]):
    """Rows of (key, value) pairs, made when they are first looked at: there may be a hundred thousand, of which a
    screenful is looked at before they are others."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._pairs = pairs
        self._made: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self._row(i) for i in range(len(self))[index]]
        return self._row(range(len(self))[index])

    def __iter__(self) -> Iterator[Row]:
        """Rows that are not kept: who goes through all of them looks for a few."""
        return (Row(*pair) for pair in self._pairs)

    def _row(self, index: int) -> Row:
        row = self._made.get(index)
        if row is None:
            row = self._made[index] = Row(*self._pairs[index])
        return row


class Sections:
    """The sections of the overview; trees that did not change give the same rows again."""

    def __init__(self, model: RunModel, others: int = 0) -> None:
        """`others`: how many older runs lie beside this one."""
        self._model = model
        self._others = others
        self._rows: dict[str, tuple[Sequence[tuple[str, str]], Sequence[Row]]] = {}

    def now(self, state: RunState) -> list[Section]:
        """The run's identity, then environment, config and summary as flat lists."""
        model = self._model
        return [
            Section("", _head(model, state, self._others), 2.0),
            Section("Environment", self._of("Environment", model.environment.rows()), 1.0),
            Section("Config", self._of("Config", model.config.rows()), 1.5),
            Section("Summary", self._of("Summary", model.summary.rows()), 2.0),
        ]

    def full(self, section: str, key: str) -> str:
        """The whole value of a row of a tree; empty when there is no such row."""
        trees = {"Environment": self._model.environment, "Config": self._model.config, "Summary": self._model.summary}
        return trees[section].full(key) if section in trees else ""

    def _of(self, title: str, pairs: Sequence[tuple[str, str]]) -> Sequence[Row]:
        known = self._rows.get(title)
        if known is None or known[0] is not pairs:
            known = self._rows[title] = pairs, _Rows(pairs)
        return known[1]


def _head(model: RunModel, state: RunState, others: int) -> list[Row]:
    identity = model.identity
    sign, tone = look(state)
    rows = [Row("state", f"{sign} {state.word}", f"overview--{tone}")]
    project = "/".join(part for part in (identity.entity, identity.project) if part)
    runtime = model.runtime
    for key, value, value_tone in (
        ("reason", state.reason, tone),
        ("name", identity.display_name, "strong"),
        ("id", identity.run_id, "value"),
        ("project", project, "value"),
        ("group", identity.group, "value"),
        ("job type", identity.job_type, "value"),
        ("tags", ", ".join(identity.tags), "tag"),
        ("notes", identity.notes, "value"),
        ("forked from", identity.forked_from, "value"),
        ("runtime", format_duration(runtime) if runtime is not None else "", "value"),
        ("alert", f"{model.alerts[-1].title}: {model.alerts[-1].text}" if model.alerts else "", "warn"),
        ("damage", damage(model), "warn"),
        ("runs", f"latest of {others + 1}" if others else "", "value"),
    ):
        if value:
            rows.append(Row(key, clean(value), f"overview--{value_tone}"))
    return rows


def damage(model: RunModel) -> str:
    """How much of the log could not be read; empty when all could."""
    if not model.skipped:
        return ""
    places = len(model.skipped)
    return f"{format_bytes(model.skipped_bytes)} in {places} place{'s' * (places > 1)} unreadable, skipped"


def state_parts(model: RunModel, state: RunState, now: float) -> list[Part]:
    """State, name, step and age of the last write, for the status line."""
    sign, tone = look(state)
    parts = [Part(f"{sign} {state}", f"status--{tone}", rank=9)]
    parts.append(Part(clean(model.identity.name), "status--strong", rank=3))
    if model.last_step is not None:
        parts.append(Part(f"step {model.last_step:,}", rank=7))
    if model.skipped:
        parts.append(Part(f"damage {format_bytes(model.skipped_bytes)}", "status--warn", rank=8))
    if model.modified and state.live:
        if not state.doubtful:
            parts.append(Part(f"written {format_age(now - model.modified)} ago", "status--quiet", rank=5))
    elif model.modified and state.name != "unreadable":
        age = now - (model.ended if model.exit_code is not None else model.modified)
        when = "just now" if age < 60 else f"{format_age(age)} ago"
        parts.append(Part(f"ended {when}", "status--quiet", rank=2))
    return parts


def progress_part(feed: RunFeed, state: RunState) -> Part:
    """How far loading is: share, bytes, points."""
    read = f"{feed.progress:.0%} of {format_bytes(feed.model.size)}, {format_value(feed.points)} points"
    return Part(read if state.name == "reading" else f"reading {read}", "status--warn", rank=8)


def empty_note(subject: Subject, feed: RunFeed, wanted: TextFilter, state: RunState) -> str:
    """What stands in place of charts when there are none."""
    model = feed.model
    what = "metric" if subject == "metrics" else "system metric"
    there = bool(model.metrics.names() if subject == "metrics" else model.system.charts())
    if wanted and there:
        key = keys_in_words("clear_metrics" if subject == "metrics" else "clear_system")
        return f"No {what} matches {clean(wanted.text)!r}\n\n{key} shows all again"
    if state.name == "unreadable":
        return clean(model.notice) if subject == "metrics" else ""
    if not feed.loaded:
        return "Reading the log" + (f"\n\n{feed.progress:.0%} of {format_bytes(model.size)}" if model.size else "")
    if state.name == "waiting":
        if subject == "system":
            return "Nothing yet"
        return f"Waiting for the first flush\n\n{state.reason}"
    none = f"No {what}s" + (" yet" if state.live else " in this run")
    besides = elsewhere(model) if subject == "metrics" else ""
    return none + (f"\n\n{besides}" if besides else "")


def elsewhere(model: RunModel) -> str:
    """What a run has besides metrics, and which keys show it; empty when it has nothing."""
    there = (
        ("show_logs", "console", len(model.console)),
        ("show_media", "media", len(model.media)),
        ("show_system", "system metrics", len(model.system)),
    )
    named = [f"{keys_in_words(command)} {what}" for command, what, count in there if count]
    return f"There is: {', '.join(named)}" if named else ""
