"""The recorder under the name `wandb`, for libraries that import that name themselves.

    import recorder
    recorder.install_as_wandb()
    trainer = Trainer(..., args=TrainingArguments(report_to="wandb"))

Hugging Face's Trainer and Accelerate, Lightning's WandbLogger and others find a module `wandb` of the version whose
behaviour the recorder has, and log into recorded runs. An installed SDK is left alone: it is only not imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import recorder
from recorder import notices
from recorder.errors import ConfigError, Error, UsageError

SDK_VERSION = "0.31.0"
"""The version of the SDK whose behaviour and names the recorder has."""


class RunDisabled:
    """The SDK's stand-in for a run that is not recorded. Here that is a `Run` too, so this is nobody's class."""


class _Wandb(ModuleType):
    """The module `wandb`: the face of the recorder under another name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(recorder, name)


class _Metadata(Distribution):
    """What `importlib.metadata` says of the package `wandb`, which some libraries ask for its version."""

    def read_text(self, filename: str) -> str | None:
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: wandb\nVersion: {SDK_VERSION}\n"
        return None

    def locate_file(self, path: Any) -> Any:
        return Path(recorder.__file__).parent / path


class _Finder(DistributionFinder):
    """Finds that metadata, for those who ask for it by name."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Finds no module: they are registered."""

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> Iterable[Distribution]:
        name = context.name if context is not None else None
        return [_Metadata()] if name == "wandb" else []


def install_as_wandb() -> ModuleType:
    """Makes `import wandb` mean this recorder, from now on and in this process. The answer is the module.

    Raises UsageError when the SDK was imported before.
    """
    found = sys.modules.get("wandb")
    if isinstance(found, _Wandb):
        return found
    if found is not None:
        raise UsageError("wandb is imported already; call install_as_wandb() before anything imports it")
    modules = {
        "wandb": {"__version__": SDK_VERSION, "termlog": _say, "termwarn": _warn, "termerror": _warn},
        "wandb.env": {
            "set_project": _setter("WANDB_PROJECT"),
            "set_entity": _setter("WANDB_ENTITY"),
        },
        "wandb.errors": {"Error": Error, "UsageError": UsageError, "CommError": Error},
        "wandb.data_types": {},
        "wandb.sdk": {},
        "wandb.sdk.data_types": {},
        "wandb.sdk.lib": {"RunDisabled": RunDisabled},
        "wandb.sdk.lib.config_util": {"ConfigError": ConfigError},
        "wandb.sdk.wandb_run": {},
        "wandb.sdk.wandb_settings": {},
        "wandb.wandb_run": {},
    }
    for name, content in modules.items():
        module = _Wandb(name, recorder.__doc__)
        module.__dict__.update(content)
        module.__spec__ = ModuleSpec(name, None, is_package=True)
        module.__path__ = []
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
    sys.meta_path.insert(0, _Finder())
    return sys.modules["wandb"]


def _setter(variable: str) -> Any:
    def set_variable(value: str, env: Any = None) -> None:
        (os.environ if env is None else env)[variable] = value

    return set_variable


def _say(string: str = "", *args: Any, **kwargs: Any) -> None:
    notices.say(string)


def _warn(string: str = "", *args: Any, **kwargs: Any) -> None:
    notices.warn(string)
