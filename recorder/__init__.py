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
    from recorder import plot as plot
    from recorder.alert_level import AlertLevel as AlertLevel
    from recorder.artifacts import Artifact as Artifact
    from recorder.errors import Error as Error
    from recorder.errors import UsageError as UsageError
    from recorder.histogram import Histogram as Histogram
    from recorder.hooks import install_as_wandb as install_as_wandb
    from recorder.media.audio import Audio as Audio
    from recorder.media.html import Html as Html
    from recorder.media.image import Image as Image
    from recorder.media.molecule import Molecule as Molecule
    from recorder.media.object3d import Object3D as Object3D
    from recorder.media.object3d import box3d as box3d
    from recorder.media.overlays import Classes as Classes
    from recorder.media.plotly import Plotly as Plotly
    from recorder.media.table import Table as Table
    from recorder.media.video import Video as Video
    from recorder.metrics import Metric
    from recorder.plot import plot_table as plot_table
    from recorder.plot import visualize as visualize
    from recorder.run import Run as Run
    from recorder.run_config import Config
    from recorder.run_summary import Summary
    from recorder.server_only import Api as Api
    from recorder.server_only import agent as agent
    from recorder.server_only import controller as controller
    from recorder.server_only import sweep as sweep
    from recorder.settings import Settings as Settings
    from recorder.starting import attach as attach
    from recorder.starting import init as init

    config: Config
    """The config of the run that is active."""
    summary: Summary
    """The summary of the run that is active."""

VERSION = __version__ = "0.1.0"

_HOMES = {
    "AlertLevel": "recorder.alert_level",
    "Api": "recorder.server_only",
    "Artifact": "recorder.artifacts",
    "Audio": "recorder.media.audio",
    "Classes": "recorder.media.overlays",
    "Error": "recorder.errors",
    "Histogram": "recorder.histogram",
    "Html": "recorder.media.html",
    "Image": "recorder.media.image",
    "Molecule": "recorder.media.molecule",
    "Object3D": "recorder.media.object3d",
    "Plotly": "recorder.media.plotly",
    "Run": "recorder.run",
    "Settings": "recorder.settings",
    "Table": "recorder.media.table",
    "UsageError": "recorder.errors",
    "Video": "recorder.media.video",
    "agent": "recorder.server_only",
    "attach": "recorder.starting",
    "box3d": "recorder.media.object3d",
    "controller": "recorder.server_only",
    "init": "recorder.starting",
    "install_as_wandb": "recorder.hooks",
    "plot_table": "recorder.plot",
    "sweep": "recorder.server_only",
    "visualize": "recorder.plot",
}
"""Name → the module that it is loaded from when it is first asked for."""

_OF_RUN = (
    "link_model",
    "log_artifact",
    "log_model",
    "mark_preempting",
    "restore",
    "save",
    "unwatch",
    "use_artifact",
    "use_model",
    "watch",
)
"""Methods of the active run that are functions of the package too."""

__all__ = [*sorted({*_HOMES, *_OF_RUN}), "alert", "config", "define_metric", "finish", "log", "plot", "run", "summary"]


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


def require(*args: Any, **kwargs: Any) -> None:
    """Does nothing: there is nothing to opt in to."""


def setup(*args: Any, **kwargs: Any) -> None:
    """Does nothing: there is no second process to start."""


def teardown(exit_code: int | None = None) -> None:
    """Ends the active run, if there is one."""
    finish(exit_code)


def _current() -> Run | None:
    starting = sys.modules.get("recorder.starting")
    return starting.current() if starting is not None else None


def _active(what: str) -> Run:
    active = _current()
    if active is None:
        from recorder.errors import Error

        raise Error(f"You must call init() before {what}")
    return active


def _forwarded(name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(_active(f"{name}()"), name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"See `Run.{name}`."
    globals()[name] = call
    return call


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found
    if name in _OF_RUN:
        return _forwarded(name)
    if name == "plot":
        return import_module("recorder.plot")
    if name in ("config", "summary"):
        active = _current()
        if active is None:
            from recorder.before_init import BeforeInit

            return BeforeInit(name)
        return getattr(active, name)
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
