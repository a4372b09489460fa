"""Artifacts: named collections of files that a run makes, recorded so that `wandb sync` uploads them (§2.5).

The files are copied when they are added, because a script may change or delete them before the upload: into
`artifacts/` of the run's directory while a run is active, elsewhere into a temporary directory until the artifact is
logged. A copy bears the MD5 of its content as its name, so that the same file is never kept twice. A record names
copies by their absolute path, as the SDK's records do: a run has to be synced where it was recorded, or there has to
be a link at that place which leads to it; else its artifacts do not arrive.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import unquote, urlparse

from recorder import notices
from recorder.artifact_copies import base64_of, copy_once, digested, is_temporary, staged, temporary_directory
from recorder.artifact_entry import Entry, fields
from recorder.artifact_names import checked_name, client_id, renamed, safe_path
from recorder.errors import Error
from recorder.filing import refuse
from recorder.media.content import Content
from recorder.media.json_file import plain
from recorder.media.media import Json, Media
from recorder.media.overlays import Classes

_MOST_METADATA = 100


class Artifact:
    """A collection of files with a name and a type.

    Args:
        name: letters, digits, `_`, `-` and `.`; at most 128.
        type: what kind of thing it is, `model` or `dataset`.
        description: a text about it.
        metadata: facts about it, at most 100 and without infinities.
        incremental: whether it adds to the latest version.

    Raises ValueError for a name or metadata that it cannot have.
    """

    def __init__(
        self,
        name: str,
        type: str,  # noqa: A002  the SDK's name
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        incremental: bool = False,
        *,
        internal: bool = False,
        **others: Any,
    ) -> None:
        """`internal`: made by the recorder itself, whose types are reserved. `others` of the SDK change nothing."""
        reserved = type in ("job", "run_table", "code") or type.startswith("wandb-")
        if reserved and not internal:
            raise ValueError(f"artifacts of the type {type!r} are made by the run itself")
        self.name = checked_name(name)
        self.type = type
        self.description = description
        self.metadata = dict(metadata or {})
        self.incremental = incremental
        self.ttl: timedelta | None = None
        """How long it is kept on the server; None for as long as is usual there."""
        self.aliases: list[str] = []
        self.tags: list[str] = []
        self.client_id = client_id()
        self.sequence_client_id = client_id()
        self._entries: dict[str, Entry] = {}
        self._objects: dict[int, tuple[Any, Entry]] = {}
        self._in_place: set[Path] = set()
        """Files that no copy could be made of."""
        self._final = False
        self.record()  # says now what is wrong with the metadata

    # What it holds

    @property
    def paths(self) -> list[str]:
        """The paths of its files, sorted."""
        return sorted(self._entries)

    @property
    def digest(self) -> str:
        """MD5 over paths and digests, as servers compute it to know versions apart."""
        found = hashlib.md5(b"wandb-artifact-manifest-v1\n", usedforsecurity=False)
        for path in self.paths:
            found.update(f"{path}:{self._entries[path].digest}\n".encode())
        return found.hexdigest()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size or 0 for entry in self._entries.values())

    @property
    def file_count(self) -> int:
        """Number of files."""
        return len(self._entries)

    # What is added

    def add_file(
        self,
        local_path: str | os.PathLike[str],
        name: str | None = None,
        is_tmp: bool | None = False,
        skip_cache: bool | None = False,
        policy: str | None = "mutable",
        overwrite: bool = False,
    ) -> Entry:
        """Adds a file.

        Args:
            local_path: the file.
            name: its path in the artifact; its own name without it.
            is_tmp: it gets the MD5 of its content as its name.
            skip_cache: it is not worth a place in the SDK's cache.
            policy: `mutable` copies it at once; `immutable` uploads it from where it lies, which has to stay as it is.
            overwrite: whether it may take the place of a file with another content.

        Raises ValueError for something that is no file, or whose place is taken.
        """
        source = Path(local_path)
        if not source.is_file():
            raise ValueError(f"{local_path} is no file")
        if policy not in ("mutable", "immutable", None):
            raise ValueError(f"policy is mutable or immutable, not {policy!r}")
        found = staged(source) if policy != "immutable" else digested(source)
        if found.path == source:
            self._in_place.add(source)
        path = safe_path(name or source.name)
        if is_tmp:
            path = renamed(path, found.digest)
        copied = found.path != source.absolute() or is_temporary(source)
        entry = Entry(path, found.digest, found.size, str(found.path), skip_cache=bool(skip_cache), copied=copied)
        return self._add(entry, overwrite)

    def add_dir(
        self,
        local_path: str | os.PathLike[str],
        name: str | None = None,
        skip_cache: bool | None = False,
        policy: str | None = "mutable",
        merge: bool = False,
    ) -> None:
        """Adds all files below a directory, under `name` if one is given. Raises ValueError as `add_file` does."""
        top = os.fspath(local_path)
        if not os.path.isdir(top):
            raise ValueError(f"{local_path} is no directory")
        for directory, _, names in os.walk(top, followlinks=True):
            for file in sorted(names):
                source = os.path.join(directory, file)
                path = os.path.join(name or "", os.path.relpath(source, top))
                self.add_file(source, path, skip_cache=skip_cache, policy=policy, overwrite=merge)

    @contextlib.contextmanager
    def new_file(self, name: str, mode: str = "x", encoding: str | None = None) -> Iterator[IO[Any]]:
        """A new file, open for writing, that is added when the block ends.

        Raises ValueError for a name that is taken, unless the mode is `w`.
        """
        path = safe_path(name)
        if "x" in mode and path in self._entries:
            raise ValueError(f"there is a file {path!r} in the artifact already")
        with self._temporary_file(PurePosixPath(path).name) as source:
            with source.open(mode, encoding=encoding) as file:
                yield file
            self.add_file(source, name=path, skip_cache=True, overwrite="x" not in mode)

    def add_reference(
        self,
        uri: str,
        name: str | None = None,
        checksum: bool = True,
        max_objects: int | None = None,
    ) -> list[Entry]:
        """Adds the address of something that stays where it is.

        Files and directories (`file://`) are read for their checksums. What lies elsewhere is not: its address
        stands for its content, as with `checksum=False` in the SDK.

        Raises ValueError for something that is no address, or a file that is not there.
        """
        url = urlparse(str(uri))
        if not url.scheme:
            raise ValueError(f"{uri} is no address; a file of this machine has one with file://")
        if url.scheme == "file":
            return self._add_local_reference(str(uri), Path(unquote(url.path)), name, checksum)
        if checksum:
            notices.warn_once(f"{url.scheme}:// references are recorded by their addresses, without checksums")
        path = name or PurePosixPath(url.path).name
        if not path:
            raise ValueError(f"{uri} needs a name in the artifact")
        return [self._add(Entry(safe_path(path), str(uri), ref=str(uri)))]

    def add(self, obj: Any, name: str, overwrite: bool = False) -> Entry:
        """Adds a table, an image or another of the media, with the files that belong to it.

        Raises TypeError for something else, ValueError for a name that is taken.
        """
        if id(obj) in self._objects:
            return self._objects[id(obj)][1]
        if isinstance(obj, Classes):
            kind, value = "classes", {"_type": "classes", "class_set": obj.class_set}
        elif isinstance(obj, Media):
            kind, value = obj.TYPE, obj.hold(self)
        else:
            raise TypeError(f"tables, images and other media can be added to an artifact, not {type(obj).__qualname__}")
        suffix = f".{kind}.json"
        entry = self._add_json(value, name if name.endswith(suffix) else f"{name}{suffix}", overwrite)
        self._objects[id(obj)] = obj, entry
        return entry

    def remove(self, item: str | Entry) -> None:
        """Takes a file out, or all below a directory. Raises FileNotFoundError where there is none."""
        path = item.path if isinstance(item, Entry) else safe_path(item)
        gone = [each for each in self._entries if each == path or each.startswith(f"{path}/")]
        if not gone:
            raise FileNotFoundError(f"there is no {path} in the artifact")
        self._check_open()
        for each in gone:
            del self._entries[each]

    def finalize(self) -> None:
        """Nothing can be added any more."""
        self._final = True

    def wait(self, timeout: float | None = None) -> Artifact:
        """Gives the artifact back at once: it is uploaded by `wandb sync`."""
        return self

    # Media inside other things

    def hold(self, content: Content, directory: str) -> str:
        """Adds a media file, named by its content. Its path. Raises OSError."""
        if content.path is None:
            with self._temporary_file(f"content{content.extension}") as source:
                content.write(source)
                return self.add_file(source, f"{directory}/{source.name}", is_tmp=True, overwrite=True).path
        path = f"{directory}/{content.sha256[:20]}/{content.path.name}"
        return self.add_file(content.path, path, overwrite=True).path

    def hold_object(self, value: Json, name: str) -> tuple[str, str]:
        """Adds a JSON file. Its path and its digest. Raises OSError."""
        entry = self._add_json(value, name, overwrite=True)
        return entry.path, entry.digest

    # How it is recorded

    def record(self) -> dict[str, Any]:
        """The fields of the ArtifactRecord that the artifact knows itself. Raises ValueError for its metadata."""
        metadata = json.dumps(_without_nan(plain(self.metadata)), allow_nan=False, separators=(",", ":"))
        if len(self.metadata) > _MOST_METADATA:
            raise ValueError(f"an artifact has at most {_MOST_METADATA} metadata, not {len(self.metadata)}")
        return {
            "type": self.type,
            "name": self.name,
            "digest": self.digest,
            "digest_algorithm": "MANIFEST_MD5",
            "description": self.description,
            "metadata": metadata if self.metadata else None,
            "client_id": self.client_id,
            "sequence_client_id": self.sequence_client_id,
            "ttl_duration_seconds": int(self.ttl.total_seconds()) if self.ttl is not None else None,
            "incremental_beta1": self.incremental,
            "manifest": {
                "version": 1,
                "storage_policy": "wandb-storage-policy-v1",
                "storage_policy_config": [{"key": "storageLayout", "value_json": '"V2"'}],
                "contents": [fields(self._entries[path]) for path in self.paths],
            },
        }

    def move_into(self, directory: Path) -> None:
        """Puts the copies of its files into a directory of the run's, unless they are there. Raises OSError."""
        for path, entry in self._entries.items():
            if entry.local_path is None or not entry.copied:
                continue
            target = directory / base64.b64decode(entry.digest).hex()
            if not target.exists():
                copy_once(Path(entry.local_path), target)
            self._entries[path] = replace(entry, local_path=str(target))

    @contextlib.contextmanager
    def _temporary_file(self, name: str) -> Iterator[Path]:
        """A place for a file that is about to be added. It goes, unless no copy of it could be made. Raises OSError."""
        place = Path(tempfile.mkdtemp(dir=temporary_directory())) / name
        try:
            yield place
        finally:
            if place not in self._in_place:
                shutil.rmtree(place.parent, ignore_errors=True)

    def _add(self, entry: Entry, overwrite: bool = False) -> Entry:
        self._check_open()
        old = self._entries.get(entry.path)
        if old is not None and not overwrite and old.digest != entry.digest:
            raise ValueError(f"there is another file {entry.path!r} in the artifact already")
        self._entries[entry.path] = entry
        return entry

    def _add_json(self, value: Json, name: str, overwrite: bool) -> Entry:
        text = json.dumps(value, sort_keys=True)
        with self._temporary_file("object.json") as source:
            source.write_text(text, encoding="utf-8")
            return self.add_file(source, name, skip_cache=True, overwrite=overwrite)

    def _add_local_reference(self, uri: str, source: Path, name: str | None, checksum: bool) -> list[Entry]:
        if source.is_dir():
            paths = [Path(directory, file) for directory, _, names in os.walk(source) for file in sorted(names)]
            places = [(path, os.path.relpath(path, source)) for path in paths]
            found = [(path, f"{uri.rstrip('/')}/{place}", os.path.join(name or "", place)) for path, place in places]
        elif source.is_file():
            found = [(source, uri, name or source.name)]
        else:
            raise ValueError(f"{uri}: there is neither a file nor a directory {source}")
        entries = []
        for path, address, place in found:
            digest = digested(path).digest if checksum else base64_of(hashlib.md5(str(path).encode()).digest())
            entries.append(self._add(Entry(safe_path(place), digest, path.stat().st_size, ref=address)))
        return entries

    def _check_open(self) -> None:
        if self._final:
            raise Error(f"artifact {self.name} is logged already; another version of it is another Artifact")

    def __getattr__(self, name: str) -> Any:
        if name in _ON_SERVERS:
            refuse(f"Artifact.{name}", "it is there after `wandb sync`, through the SDK")
        raise AttributeError(f"an artifact has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"Artifact({self.name!r}, {self.type!r}, {len(self._entries)} files)"


_ON_SERVERS = frozenset(
    (
        *("checkout", "commit_hash", "created_at", "delete", "download", "file", "files", "get", "get_entry"),
        *("get_path", "id", "link", "linked_artifacts", "logged_by", "manifest", "qualified_name", "save"),
        *("source_name", "unlink", "updated_at", "url", "used_by", "verify", "version"),
    )
)
"""What the SDK's artifacts know and can do once a server has them."""


def prepared(given: Artifact | str | os.PathLike[str], name: str | None, kind: str | None, run_id: str) -> Artifact:
    """The artifact that a run is asked to record: itself, or that of a path; nothing can be added to it any more.

    Raises ValueError for a path that is neither file nor directory, TypeError for something else.
    """
    if isinstance(given, Artifact):
        artifact = given
    elif isinstance(given, str | os.PathLike):
        artifact = Artifact(name or f"run-{run_id}-{os.path.basename(given)}", kind or "unspecified")
        if os.path.isfile(given):
            artifact.add_file(given)
        elif os.path.isdir(given):
            artifact.add_dir(given)
        elif "://" in os.fspath(given):
            artifact.add_reference(os.fspath(given))
        else:
            raise ValueError(f"{given} is neither a file nor a directory nor an address")
    else:
        raise TypeError(f"an Artifact or a path can be logged, not {type(given).__qualname__}")
    artifact.finalize()
    return artifact


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and value != value else value
