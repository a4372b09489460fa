"""The part of a run that takes files: saved ones, artifacts, code. What does the work is loaded on demand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from recorder.settings import Settings

if TYPE_CHECKING:
    from recorder.artifacts import Artifact
    from recorder.files import RunFiles

Choice = Callable[[str, str], bool] | Callable[[str], bool]
"""Takes a path, and perhaps the directory that was searched."""


class Filing:
    """Methods of a run that record files."""

    _settings: Settings
    _id: str
    _directory: Path | None
    _step: int
    _features: dict[str, bool]
    _filed: RunFiles | None = None

    def _append(self, kind: str, value: Mapping[str, Any]) -> None:
        """Writes a record of the kind that `Record` calls so."""
        raise NotImplementedError

    def _records(self, what: str) -> bool:
        """Whether there is a log to write to."""
        raise NotImplementedError

    def _tell_features(self, **features: bool) -> None:
        """Says what the run makes use of."""
        raise NotImplementedError

    def _files(self) -> RunFiles | None:
        """The files of the run; None for a run that is recorded nowhere."""
        if self._filed is None and self._directory is not None:
            from recorder.files import RunFiles

            self._filed = RunFiles(self, self._directory)
        return self._filed

    def _with_media(self, data: Mapping[str, Any], step: int | str | None = None) -> Mapping[str, Any]:
        """Logged values, with their media written and objects in their place; `step` is part of the files' names."""
        from recorder.media.logged import kept

        return kept(data, self._files(), self._step if step is None else step)

    def save(
        self,
        glob_str: str | os.PathLike[str],
        base_path: str | os.PathLike[str] | None = None,
        policy: str = "live",
        glob: bool = True,
    ) -> list[str]:
        """Puts files into the run: links to them where links are possible, copies elsewhere.

        Args:
            glob_str: path or pattern of the files.
            base_path: what the paths in the run are relative to; the current directory, or the directory above that of
                an absolute path.
            policy: `live` and `end` upload the file as it is when the run is synced or ends, `now` as well.
            glob: whether `*`, `?` and `[]` are a pattern.

        Returns the paths of the files in the run.

        Raises ValueError for another policy, and for paths that are not below the base path.
        """
        files = self._files() if self._records("save") else None
        return files.save(glob_str, base_path, policy, glob) if files is not None else []

    def log_artifact(
        self,
        artifact_or_path: Artifact | str | os.PathLike[str],
        name: str | None = None,
        type: str | None = None,  # noqa: A002  the SDK's name
        aliases: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
    ) -> Artifact:
        """Records an artifact as made by the run; `wandb sync` uploads it.

        Its files are copied into the directory of the run, so that they may change or go afterwards.

        Args:
            artifact_or_path: an `Artifact`, or the path of a file or a directory.
            name: for a path: the name of the artifact, `run-<id>-<file>` without it.
            type: for a path: what kind of thing it is, `model` or `dataset`.
            aliases: names of this version beside `latest`.
            tags: its tags.

        Raises ValueError for a path that is neither, and for names that artifacts cannot have.
        """
        return self._log_artifact(artifact_or_path, name, type, aliases, tags)

    def log_model(
        self, path: str | os.PathLike[str], name: str | None = None, aliases: Iterable[str] | str | None = None
    ) -> None:
        """Records a file or a directory as an artifact of the type `model`; see `log_artifact`."""
        self._log_artifact(path, name, "model", aliases)

    def upsert_artifact(
        self,
        artifact_or_path: Artifact | str | os.PathLike[str],
        name: str | None = None,
        type: str | None = None,  # noqa: A002
        aliases: Iterable[str] | str | None = None,
        distributed_id: str | None = None,
    ) -> Artifact:
        """Records a part of an artifact that several runs make; the last of them calls `finish_artifact`.

        Raises TypeError where neither the run has a group nor there is a `distributed_id`.
        """
        shared = self._shared_id(distributed_id)
        return self._log_artifact(artifact_or_path, name, type, aliases, distributed_id=shared, finalize=False)

    def finish_artifact(
        self,
        artifact_or_path: Artifact | str | os.PathLike[str],
        name: str | None = None,
        type: str | None = None,  # noqa: A002
        aliases: Iterable[str] | str | None = None,
        distributed_id: str | None = None,
    ) -> Artifact:
        """Records the last part of an artifact that several runs make. Raises as `upsert_artifact` does."""
        shared = self._shared_id(distributed_id)
        return self._log_artifact(artifact_or_path, name, type, aliases, distributed_id=shared)

    def log_code(
        self,
        root: str | os.PathLike[str] | None = ".",
        name: str | None = None,
        include_fn: Choice | None = None,
        exclude_fn: Choice | None = None,
    ) -> Artifact | None:
        """Records the program's code as an artifact of the type `code`.

        Args:
            root: the directory that is searched.
            name: of the artifact; the project and the program without it.
            include_fn: whether a file belongs to it; without it Python files, Dockerfiles and `requirements.txt` do.
            exclude_fn: whether a file does not; without it those below `wandb` do not.

        Returns None where no file belongs to it, and says so.
        """
        if not self._records("log_code"):
            return None
        from recorder.code import code_artifact

        artifact = code_artifact(self._settings, root, name, include_fn, exclude_fn)
        files = self._files()
        if artifact is not None and files is not None:
            self._log_artifact(artifact)
            files.tell("code_path", artifact.name)
        return artifact

    def use_artifact(self, artifact_or_name: Any, *args: Any, **kwargs: Any) -> NoReturn:
        """Needs a server. Raises Error."""
        refuse("use_artifact", "download the artifact beforehand and pass its path")

    def use_model(self, name: str) -> NoReturn:
        """Needs a server. Raises Error."""
        refuse("use_model", "download the model beforehand and pass its path")

    def link_artifact(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Needs a server. Raises Error."""
        refuse("link_artifact", "record it with log_artifact, and link it after `wandb sync`")

    def link_model(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Needs a server. Raises Error."""
        refuse("link_model", "record it with log_model, and link it after `wandb sync`")

    def restore(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Needs a server. Raises Error."""
        refuse("restore", "copy the file from where it lies")

    def _shared_id(self, distributed_id: str | None) -> str:
        group = self._settings.run_group
        if distributed_id is None and group is None:
            raise TypeError("an artifact of several runs needs a group of runs or a distributed_id")
        return distributed_id if distributed_id is not None else str(group)

    def _log_artifact(
        self,
        artifact_or_path: Artifact | str | os.PathLike[str],
        name: str | None = None,
        kind: str | None = None,
        aliases: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        distributed_id: str | None = None,
        finalize: bool = True,
    ) -> Artifact:
        from recorder.artifacts import prepared

        artifact = prepared(artifact_or_path, name, kind, self._id)
        files = self._files() if self._records("log_artifact") else None
        if files is not None:
            files.artifact(artifact, aliases, tags, distributed_id, finalize)
        return artifact


def refuse(what: str, instead: str) -> NoReturn:
    """Says that a call cannot do what it should without a server, and what can. Raises Error."""
    from recorder.errors import Error

    raise Error(f"{what} needs a server, and runs are recorded without one: {instead}")
