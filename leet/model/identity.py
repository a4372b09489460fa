"""Who a run is, and what its program called out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Identity:
    """Who the run is. Texts are as logged: `safe_text.clean` them before they are printed."""

    run_id: str = ""
    display_name: str = ""
    entity: str = ""
    project: str = ""
    group: str = ""
    job_type: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    sweep_id: str = ""
    host: str = ""
    start_time: float | None = None
    """Unix seconds."""
    git_remote: str = ""
    git_commit: str = ""
    resumed: bool = False
    forked_from: str = ""
    """`run at metric = value` for a fork."""
    starting_step: int = 0
    writer: str = ""
    """Version of the program that wrote the log."""

    @property
    def name(self) -> str:
        """What a person calls it: the display name, else the id."""
        return self.display_name or self.run_id


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert that the program raised; `ordinal` is its record's number."""

    title: str
    text: str
    level: str
    ordinal: int
