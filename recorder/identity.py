"""What a run is: its id, names, tags, and where it lies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recorder.resume import Beginning
from recorder.settings import Settings
from recorder.transaction_log.wire import timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from recorder.sample_buffer import SampleBuffer


class Identity:
    """The properties of a run that say which one it is."""

    _settings: Settings
    _id: str
    _directory: Path | None
    _start: float
    _beginning: Beginning
    _samples: SampleBuffer | None = None

    def _change(self, setting: str, value: Any) -> None:
        """Sets a setting and says so in the log."""
        raise NotImplementedError

    @property
    def id(self) -> str:
        """The id of the run, unique in its project."""
        return self._id

    @property
    def entity(self) -> str:
        """The user or team that it belongs to, as far as one was named."""
        return str(self._settings.entity or "")

    @property
    def project(self) -> str:
        """The project that it belongs to."""
        return str(self._settings.project)

    @property
    def group(self) -> str:
        """The group of runs that it belongs to, or nothing."""
        return str(self._settings.run_group or "")

    @property
    def job_type(self) -> str:
        """What kind of job it is, or nothing."""
        return str(self._settings.run_job_type or "")

    @property
    def sweep_id(self) -> str | None:
        """The sweep that it belongs to, if any."""
        return str(self._settings.sweep_id) if self._settings.sweep_id else None

    @property
    def name(self) -> str | None:
        """The name that is shown. Setting it writes the run record again."""
        return str(self._settings.run_name) if self._settings.run_name is not None else None

    @name.setter
    def name(self, name: str) -> None:
        self._change("run_name", name)

    @property
    def notes(self) -> str | None:
        """A longer description. Setting it writes the run record again."""
        return str(self._settings.run_notes) if self._settings.run_notes is not None else None

    @notes.setter
    def notes(self, notes: str) -> None:
        self._change("run_notes", notes)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags. Setting them writes the run record again."""
        return tuple(self._settings.run_tags or ())

    @tags.setter
    def tags(self, tags: Sequence[str]) -> None:
        if not isinstance(tags, Iterable):
            raise TypeError(f"tags are a sequence of texts, and not {tags!r:.80}")
        self._change("run_tags", (tags,) if isinstance(tags, str) else tuple(tags))

    @property
    def path(self) -> str:
        """`entity/project/id`, as far as they are known."""
        return "/".join(part for part in (self.entity, self.project, self._id) if part)

    @property
    def dir(self) -> str:
        """The directory for files of the run."""
        if self._directory is None:
            import tempfile

            return tempfile.gettempdir()
        return str(self._directory / "files")

    @property
    def sync_dir(self) -> str:
        """The directory of the run: what `wandb sync` takes."""
        return str(self._directory) if self._directory is not None else self.dir

    @property
    def settings(self) -> Settings:
        """The settings that it was started with."""
        return self._settings

    @property
    def start_time(self) -> float:
        """When it began, in Unix seconds."""
        return self._start

    @property
    def starting_step(self) -> int:
        """The step of the first row: 0, or the one after the last that was recorded before."""
        return self._beginning.step

    @property
    def resumed(self) -> bool:
        """Whether the run goes on with one that was recorded before."""
        return self._beginning.resumed

    @property
    def _system_metrics(self) -> dict[str, list[tuple[datetime, float]]]:
        """The last `x_stats_buffer_size` values of each system metric, with their times (the SDK's name for them)."""
        return self._samples.values() if self._samples is not None else {}

    url = project_url = sweep_url = None
    """A recorded run has no address."""

    @property
    def offline(self) -> bool:
        """Runs are always recorded offline."""
        return True

    @property
    def disabled(self) -> bool:
        """Whether nothing is recorded at all."""
        return self._directory is None

    def _as_record(self) -> dict[str, Any]:
        """The fields of a RunRecord that say which run it is."""
        settings, begun = self._settings, self._beginning
        commit, remote = settings.git_commit, settings.git_remote_url
        return {
            "run_id": self._id,
            "entity": settings.entity,
            "project": settings.project,
            "run_group": settings.run_group,
            "job_type": settings.run_job_type,
            "display_name": settings.run_name,
            "notes": settings.run_notes,
            "tags": settings.run_tags,
            "sweep_id": settings.sweep_id,
            "host": settings.host,
            "start_time": timestamp(self._start),
            "git": {"remote_url": remote, "commit": commit} if commit or remote else None,
            "resume": settings.resume in ("allow", "must") or (settings.resume == "auto" and begun.resumed),
            "branch_point": begun.branch.record() if begun.branch else None,
        }

    def get_url(self) -> None:
        """A recorded run has no address."""

    def _label(self, *args: Any, **kwargs: Any) -> None:
        """Libraries say here which integration they are; nothing makes use of it."""
