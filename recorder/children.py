"""Child processes that log into the run of their parent.

The parent listens at a local socket while its run is active, and leaves the address and a secret in its environment,
which children of every kind inherit (`fork`, `spawn`, `forkserver`, `subprocess`). A child calls
`recorder.attach()`; what it logs then travels as one line of JSON per call:

    child: attach() ─► log(…) ─► socket ─► thread of the parent ─► Run.log(…)

What has been sent is the kernel's, so a child may end by any means right after a call. The parent gives each row its
step, so rows of several children and of the parent mix in the order in which they arrive. Media are written by the
child, into the directory of the run, and only what stands for them in the row travels.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from recorder import notices, values
from recorder.errors import UsageError
from recorder.transaction_log import json_values

if TYPE_CHECKING:
    from recorder.files import RunFiles

VARIABLE = "LEET_ATTACH"
"""A JSON object that tells children where the run is: `run`, `secret`, `address`, `directory`, `project`, `entity`."""

_CALLS = ("log", "define_metric", "alert", "write_logs", "summary", "config", "record")
_RECORDS = ("files", "config", "artifact")
"""Kinds of records that go with media."""
_LAST = 1.0
"""Seconds that a run which ends waits for what its children have sent already."""


class Target(Protocol):
    """The run of the parent."""

    config: Any
    summary: Any

    @property
    def id(self) -> str: ...

    @property
    def sync_dir(self) -> str: ...

    @property
    def project(self) -> str: ...

    @property
    def entity(self) -> str: ...

    def _append(self, kind: str, value: Mapping[str, Any]) -> None: ...

    def log(self, data: Mapping[str, Any], step: int | None = None, commit: bool | None = None) -> None: ...

    def define_metric(self, name: str, *args: Any, **kwargs: Any) -> Any: ...

    def alert(self, title: str, text: str, *args: Any, **kwargs: Any) -> None: ...

    def write_logs(self, text: str) -> None: ...


class Door:
    """Where children come in. A part of the parent's run."""

    def __init__(self, run: Target) -> None:
        self._run = run
        self._secret = secrets.token_hex(16)
        self._path = ""
        self._socket: socket.socket | None = None
        self._keeper: threading.Thread | None = None
        self._threads: list[threading.Thread] = []
        self._variable = ""
        self._ending = threading.Event()

    def open(self) -> None:
        """Begins to listen. Where that is impossible nothing is said until a child asks."""
        if not hasattr(socket, "AF_UNIX"):
            return
        try:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            name = f"leet-{os.getpid()}-{secrets.token_hex(4)}"
            if sys.platform == "linux":  # a name without a file, which nobody has to clean up
                self._socket.bind(f"\0{name}")
                address = f"@{name}"
            else:
                self._path = address = os.path.join(tempfile.gettempdir(), name)
                self._socket.bind(self._path)
                os.chmod(self._path, 0o600)
            self._socket.listen(64)
        except OSError:
            self._socket = None
            return
        run = self._run
        place = {"run": run.id, "secret": self._secret, "address": address, "directory": run.sync_dir}
        self._variable = json.dumps({**place, "project": run.project, "entity": run.entity})
        os.environ[VARIABLE] = self._variable
        self._keeper = threading.Thread(
            target=self._accept, args=(self._socket,), name="recorder: children", daemon=True
        )
        self._keeper.start()

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):  # closed, or nobody waits any more
            while True:
                connection, _ = listening.accept()
                thread = threading.Thread(target=self._serve, args=(connection,), name="recorder: child", daemon=True)
                thread.start()
                self._threads.append(thread)

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(0.25)
            buffered = bytearray()
            greeted = False
            while True:
                try:
                    data = connection.recv(1 << 16)
                except TimeoutError:
                    if self._ending.is_set():
                        return
                    continue
                if not data:
                    return
                buffered += data
                *lines, rest = buffered.split(b"\n")
                buffered = bytearray(rest)
                for line in lines:
                    if not greeted:
                        if line.decode("ascii", "replace") != self._secret:
                            return
                        greeted = True
                    else:
                        self._do(bytes(line))

    def _do(self, line: bytes) -> None:
        try:
            call, args, kwargs = json.loads(line)
            if call not in _CALLS:
                raise ValueError(f"no call {call!r}")
            if call == "record":
                kind, value = args
                if kind not in _RECORDS:
                    raise ValueError(f"no record {kind!r}")
                self._run._append(kind, value)
                return
            target = getattr(self._run, call)
            (target.update if call in ("summary", "config") else target)(*args, **kwargs)
        except Exception as error:  # what a child sends must not end the parent's thread
            notices.warn_once(f"what a child process logged is not recorded: {type(error).__name__}: {error}")

    def stop(self) -> None:
        """Takes what was sent already, and lets nobody in any more."""
        if os.environ.get(VARIABLE) == self._variable:
            os.environ.pop(VARIABLE, None)
        if self._socket is None:
            return
        listening, self._socket = self._socket, None
        self._ending.set()
        listening.setblocking(False)
        self._accept(listening)  # those who have sent something and were not let in yet
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        if self._keeper is not None:
            self._keeper.join(_LAST)
        if self._path:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(_LAST)

    def disown(self) -> None:
        """In a forked child: the address stays, the socket is the parent's."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class _Values:
    """The config or the summary of the parent's run, to be set and not to be read."""

    _send: Callable[[dict[str, Any]], None]

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        object.__setattr__(self, "_send", send)

    def update(self, new: Mapping[str, Any], **options: Any) -> None:
        """Sets several values."""
        self._send(dict(new))

    def __setitem__(self, key: str, value: Any) -> None:
        self._send({key: value})

    __setattr__ = __setitem__


class _Messenger:
    """What `RunFiles` needs of a run, in a child: records are sent to the parent."""

    def __init__(self, place: Mapping[str, str], send: Callable[..., None]) -> None:
        self._send = send
        self._id = place["run"]
        self._settings: Any = SimpleNamespace(project=place["project"], entity=place["entity"])
        self._features: dict[str, bool] = {}

    def _tell_features(self, **features: bool) -> None:
        """What a run makes use of is told by its own process."""

    def _append(self, kind: str, value: Mapping[str, Any]) -> None:
        self._send("record", kind, dict(value))


class AttachedRun:
    """The run of the parent, seen from a child. It has the calls that record something; `attach()` makes it."""

    def __init__(self, place: Mapping[str, str], connection: socket.socket) -> None:
        self.id = place["run"]
        self._place = place
        self._directory = Path(place["directory"])
        self._files: RunFiles | None = None
        self._calls = 0
        self._connection = connection
        self._lock = threading.Lock()
        self._broken = False
        self.summary = _Values(lambda new: self._send("summary", new))
        self.config = _Values(lambda new: self._send("config", new, allow_val_change=True))

    def log(self, data: Mapping[str, Any], step: int | None = None, commit: bool | None = None) -> None:
        """Logs values into the parent's run, as `Run.log` does."""
        if not isinstance(data, Mapping):
            raise TypeError("what is logged must be a dictionary")
        self._send(
            "log",
            dict(self._with_media(data)),
            **{k: v for k, v in (("step", step), ("commit", commit)) if v is not None},
        )

    def define_metric(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Says how a metric is shown and summarised, as `Run.define_metric` does."""
        self._send("define_metric", name, *args, **kwargs)

    def alert(self, title: str, text: str, *args: Any, **kwargs: Any) -> None:
        """Records an alert, as `Run.alert` does."""
        self._send("alert", title, text, *args, **kwargs)

    def write_logs(self, text: str) -> None:
        """Adds text to the console log."""
        self._send("write_logs", text)

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        """Leaves the run, which goes on."""
        self._broken = True
        self._connection.close()

    def __getattr__(self, name: str) -> Any:
        from recorder.run import Run

        if name.startswith("_") or not hasattr(Run, name):
            raise AttributeError(f"a run has no {name!r}")
        raise UsageError(f"{name} belongs to the process that called init(); a child of it logs values and media")

    def _with_media(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Logged values with their media written. The step is the parent's to give, so names of files tell the child
        and its call instead."""
        from recorder.media.logged import kept

        if self._files is None:
            from recorder.files import RunFiles

            self._files = RunFiles(_Messenger(self._place, self._send), self._directory)
        self._calls += 1
        return kept(data, self._files, f"{os.getpid()}-{self._calls}")

    def _send(self, call: str, *args: Any, **kwargs: Any) -> None:
        if self._broken:
            return
        plain = [{str(k): _plain(k, v) for k, v in one.items()} if isinstance(one, dict) else one for one in args]
        line = json_values.dump([call, plain, kwargs]).encode("utf-8", "replace") + b"\n"
        try:
            with self._lock:
                self._connection.sendall(line)
        except OSError as error:
            self._broken = True
            notices.warn(f"run {self.id} is over or its process gone; this child's values are lost: {error.strerror}")


def _plain(key: object, value: Any) -> Any:
    try:
        return values.history_value(value)
    except Exception as error:  # foreign objects raise anything; the row keeps its other values
        notices.warn_once(f"{key!r} is stored as text: {notices.reason(error)}", f"value {key}")
        return str(value)


def connect() -> AttachedRun:
    """The run of the process that has started this one. Raises UsageError where there is none."""
    try:
        place = json.loads(os.environ[VARIABLE])
        secret, address = place["secret"], place["address"]
    except (KeyError, TypeError, ValueError):
        raise UsageError("attach() finds no run: no process that has started this one has called init()") from None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(f"\0{address[1:]}" if address.startswith("@") else address)
        connection.sendall(f"{secret}\n".encode())
    except OSError as error:
        connection.close()
        raise UsageError(f"attach() does not reach run {place['run']}, which has ended: {error.strerror}") from None
    return AttachedRun(place, connection)
