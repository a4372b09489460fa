"""Record training runs without a server, in the format and under the names of the W&B SDK.

    import recorder as wandb

    run = wandb.init(project="mnist", config={"lr": 3e-4})
    for step in range(1000):
        wandb.log({"loss": ...})
    wandb.finish()

A run is a directory `wandb/offline-run-<time>-<id>` that `leet` shows live and `wandb sync` uploads.
Importing this package costs next to nothing: what records a run is loaded by `init()`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recorder.alert_level import AlertLevel as AlertLevel
    from recorder.errors import Error as Error
    from recorder.errors import UsageError as UsageError
    from recorder.histogram import Histogram as Histogram
    from recorder.metrics import Metric
    from recorder.run import Run as Run
    from recorder.run_config import Config
    from recorder.run_summary import Summary
    from recorder.settings import Settings as Settings
    from recorder.starting import init as init

    config: Config
    """The config of the run that is active."""
    summary: Summary
    """The summary of the run that is active."""

VERSION = __version__ = "0.1.0"

_HOMES = {
    "AlertLevel": "recorder.alert_level",
    "Error": "recorder.errors",
    "Histogram": "recorder.histogram",
    "Run": "recorder.run",
    "Settings": "recorder.settings",
    "UsageError": "recorder.errors",
    "init": "recorder.starting",
}
"""Name → the module that it is loaded from when it is first asked for."""

__all__ = [*sorted(_HOMES), "alert", "config", "define_metric", "finish", "log", "run", "summary"]


def log(data: Mapping[str, Any], step: int | None = None, commit: bool | None = None) -> None:
    """Logs values to the active run; see `Run.log`."""
    _active("log()").log(data, step, commit)


def define_metric(name: str, *args: Any, **kwargs: Any) -> Metric:
    """Says how a metric of the active run is shown and summarised; see `Run.define_metric`."""
    return _active("define_metric()").define_metric(name, *args, **kwargs)


def alert(title: str, text: str, *args: Any, **kwargs: Any) -> None:
    """Records an alert in the active run; see `Run.alert`."""
    _active("alert()").alert(title, text, *args, **kwargs)


def finish(exit_code: int | None = None, quiet: bool | None = None) -> None:
    """Ends the active run, if there is one."""
    active = _current()
    if active is not None:
        active.finish(exit_code)


def login(*args: Any, **kwargs: Any) -> bool:
    """Does nothing: runs are recorded on disk, so there is nothing to log in to. False says so."""
    return False


def _current() -> Run | None:
    starting = sys.modules.get("recorder.starting")
    return starting.current() if starting is not None else None


def _active(what: str) -> Run:
    active = _current()
    if active is None:
        from recorder.errors import Error

        raise Error(f"You must call init() before {what}")
    return active


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found
    if name in ("config", "summary"):
        return getattr(_active(name), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Face(ModuleType):
    """The package, whose `run` is the active run and not the module `recorder.run`."""

    @property
    def run(self) -> Run | None:
        """The active run, or None."""
        return _current()

    @run.setter
    def run(self, module: object) -> None:
        """The import system puts the submodule here; it stays reachable with `from recorder.run import …`."""


sys.modules[__name__].__class__ = _Face
