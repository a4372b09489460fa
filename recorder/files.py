"""The files of a run: media, saved files and artifacts, with the records that make `wandb sync` upload them."""

from __future__ import annotations

import contextlib
import glob as globbing
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, Protocol

from recorder import notices
from recorder.artifact_copies import DIRECTORY
from recorder.artifact_names import all_aliases, all_tags, internal_name
from recorder.artifacts import Artifact
from recorder.media.content import Content
from recorder.media.media import Json, Media
from recorder.transaction_log import json_values

_OF_SDK = frozenset({"config.yaml", "wandb-summary.json", "wandb-metadata.json", "output.log", "requirements.txt"})
"""Files that the SDK writes of every run, over what has their names."""
_POLICIES = {"now": "NOW", "end": "END", "live": "LIVE"}
_LONGEST_PART = 180
"""Of a path of a media file, in bytes: there is room for step, hash and suffix in the 255 of file systems."""


class Records(Protocol):
    """The run whose files they are, as far as its files need it."""

    _id: str
    _settings: Any
    _features: dict[str, bool]

    def _append(self, kind: str, value: Mapping[str, Any]) -> None: ...

    def _tell_features(self, **features: bool) -> None: ...


class RunFiles:
    """What a run does with files. Paths are below its `files/`, whatever keys and names say."""

    def __init__(self, run: Records, directory: Path) -> None:
        self._run = run
        self._directory = directory
        self._root = directory / "files"
        self._internal: dict[str, Any] = {}
        """What the config holds under `_wandb`."""

    # Media

    def keep(self, content: Content, directory: str, key: str, step: int | str) -> str:
        """Writes a media file as `<directory>/<key>_<step>_<20 digits of its sha256><extension>`, and records it.

        Returns its path relative to `files/`. Raises OSError.
        """
        path = f"{directory}/{safe_key(key)}_{step}_{content.sha256[:20]}{content.extension}"
        target = self._root / path
        content.write(target)
        content.moved_to(target)
        self._run._append("files", {"files": [{"path": path}]})
        return path

    def label(self, kind: str, key: str, value: Any) -> None:
        """Records class labels under `_wandb` of the config, once as long as they stay the same."""
        found = {"type": kind, "key": key, "value": value}
        known = self._internal.setdefault(kind, {})
        if known.get(key) != found:
            known[key] = found
            self._run._append("config", {"update": [_config_item("_wandb", self._internal)]})

    def tell(self, name: str, value: Any) -> None:
        """Records a value under `_wandb` of the config."""
        self._internal[name] = value
        self._run._append("config", {"update": [_config_item("_wandb", {name: value})]})

    def chart(self, path: tuple[str, ...], value: Json) -> None:
        """Records what a chart looks like, in the config."""
        item = {"nested_key": path, "value_json": json_values.dump_config(value)}
        self._run._append("config", {"update": [item]})

    def table(self, table: Media, key: str) -> Json:
        """Records the artifact that a table gets beside its file: the addresses of the table in it. Raises OSError."""
        artifact = Artifact(internal_name(f"run-{self._run._id}-{key}"), "run_table", internal=True)
        path = artifact.add(table, safe_key(key)).path
        self.artifact(artifact)
        if not self._run._features.get("table"):
            self._run._tell_features(table=True)
        return {
            "artifact_path": f"wandb-client-artifact://{artifact.client_id}/{path}",
            "_latest_artifact_path": f"wandb-client-artifact://{artifact.sequence_client_id}:latest/{path}",
        }

    # Artifacts

    def artifact(
        self,
        artifact: Artifact,
        aliases: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        distributed_id: str | None = None,
        finalize: bool = True,
    ) -> None:
        """Records an artifact. Raises ValueError for aliases and tags that it cannot have."""
        artifact.aliases, artifact.tags = all_aliases(aliases), all_tags(tags or artifact.tags)
        try:
            artifact.move_into(self._directory / DIRECTORY)
        except OSError as error:
            notices.warn(f"artifact {artifact.name} is not recorded: {error}")
            return
        if artifact.type != "run_table":
            where = f"files of artifacts lie in {self._directory}: sync the run there"
            notices.say_once(f"{where}, or leave a link to it there when it is moved", "artifacts")
        settings = self._run._settings
        self._run._append(
            "artifact",
            {
                **artifact.record(),
                "run_id": self._run._id,
                "project": settings.project,
                "entity": settings.entity,
                "aliases": artifact.aliases,
                "tags": artifact.tags,
                "distributed_id": distributed_id,
                "finalize": finalize,
            },
        )

    # Saved files

    def save(
        self,
        pattern: str | bytes | os.PathLike[str],
        base: str | os.PathLike[str] | None,
        policy: str,
        expand: bool,
    ) -> list[str]:
        """Puts files into the run; see `Filing.save`."""
        if policy not in _POLICIES:
            raise ValueError(f"the policy is one of {', '.join(_POLICIES)}, not {policy!r}")
        text = os.fsdecode(pattern)
        if text.startswith(("gs://", "s3://")):
            notices.warn(f"{text} is an address in a cloud: it is not saved")
            return []
        top = _base_of(text, base)
        wanted = PurePath(os.path.abspath(text))
        if not wanted.is_relative_to(top):
            raise ValueError(f"{text} is not below the base path {top}")
        below = wanted.relative_to(top)
        if below.parts[:1] in ((), ("*",)):
            raise ValueError(f"{text} has to name a file or a directory below the base path {top}")
        if not self._run._features.get("save"):
            self._run._tell_features(save=True)
        if expand:
            sources = [Path(path) for path in sorted(globbing.glob(str(wanted), recursive=True))]
            there = set(self._root.glob(str(below)))
        else:
            sources = [Path(wanted)] if os.path.lexists(wanted) else []
            there = {self._root / below} if os.path.lexists(self._root / below) else set()
        saved: dict[Path, str] = {}
        for source in sources:
            target = self._root / source.relative_to(top)
            with _said(source):
                linked = self._put(source, target)
                saved[target] = policy if linked or policy != "live" else "now"
        saved.update((path, policy) for path in sorted(there) if path not in saved)
        if not saved:
            notices.warn_once(f"there is nothing to save at {text}")
            return []
        items = [
            {"path": path.relative_to(self._root).as_posix(), "policy": _POLICIES[how]} for path, how in saved.items()
        ]
        for item in items:
            if item["path"] in _OF_SDK:
                named = item["path"]
                notices.warn_once(f"{named} is saved, but `wandb sync` writes a file of that name itself: take another")
        self._run._append("files", {"files": items})
        return sorted(map(str, saved))

    def _put(self, source: Path, target: Path) -> bool:
        """Links a file into the run, or copies it; whether later changes are seen there. Raises OSError."""
        with contextlib.suppress(OSError):
            if target.exists() and source.samefile(target):
                return True
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(target):
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink()
        if self._run._settings.symlink:
            with contextlib.suppress(OSError, NotImplementedError):
                target.symlink_to(source.resolve())
                return True
        with contextlib.suppress(OSError):
            os.link(source, target)
            return True
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
        return False


@contextlib.contextmanager
def _said(source: Path) -> Any:
    """Trouble with the disk is said, once, and goes no further."""
    try:
        yield
    except OSError as error:
        notices.warn_once(f"{source} is not saved: {error}", "save")


def _base_of(text: str, base: str | os.PathLike[str] | None) -> PurePath:
    """What the paths in the run are relative to."""
    if base is not None:
        return PurePath(os.path.abspath(base))
    if not os.path.isabs(text):
        return PurePath(os.getcwd())
    notices.warn_once(f"{text} is saved with the directory that it is in; base_path= keeps more or fewer directories")
    return PurePath(os.path.abspath(text)).parent.parent


def safe_key(key: str) -> str:
    """A key as part of a path: slashes make directories, and nothing leads out of where it begins."""
    parts = key.replace("\0", "_").encode("utf-8", "replace").decode().lstrip("/").split("/")
    if os.name == "nt":
        parts = [re.sub(r'[\\:*?"<>|]', "_", part) for part in parts]
    return "/".join(_short(part.replace(".", "_") if part in (".", "..") else part) for part in parts)


def _short(part: str) -> str:
    return part.encode()[:_LONGEST_PART].decode(errors="ignore")


def _config_item(key: str, value: Mapping[str, Any]) -> dict[str, str]:
    return {"key": key, "value_json": json_values.dump_config(value)}
