"""A run that somebody else fills with samples of the machine: what a monitor shows is kept as it is shown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from recorder import notices
from recorder.beside import write_sample
from recorder.errors import Error
from recorder.run_directory import of_machine
from recorder.settings import Settings, gather
from recorder.starting import start
from recorder.system.source import Sample


class SampledRun:
    """Begins with the call and ends with `finish`. Says nothing on the terminal, which belongs to the monitor."""

    def __init__(self, name: str, directory: str, interval: float) -> None:
        """`directory` is where `wandb/` is made. Raises Error, with one line for people, when it cannot be."""
        notices.configure(silent=True, quiet=True)
        given: dict[str, Any] = {
            "console": "off",
            "x_save_requirements": False,
            "x_disable_stats": True,  # the samples come from elsewhere
            "x_stats_sampling_interval": interval,
            "run_name": name,
            "root_dir": directory,
            **of_machine(),
        }
        settings = gather(Settings(**given))
        settings.mode = "offline"
        facts = {"executable": None, "python": None, "code_path_local": None}
        self._run = start(settings, {}, facts=facts, make_global=False)
        if self._run.disabled:
            self._run.finish()
            raise Error(f"no run can be made in {os.path.abspath(directory)}: is it there, and may you write to it?")

    @property
    def directory(self) -> str:
        """Where the run is."""
        return str(self._run.sync_dir)

    def sample(self, moment: float, values: Sample, source: str) -> None:
        """Keep values that were measured at `moment`, in Unix seconds; from any thread."""
        write_sample(self._run, moment, values, source)

    def facts(self, fields: Mapping[str, Any]) -> None:
        """Keep what is known of the machine: fields of the EnvironmentRecord."""
        self._run._append("environment", dict(fields))

    def finish(self) -> None:
        self._run.finish(0)
