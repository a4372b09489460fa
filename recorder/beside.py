"""What works beside a run: the samples of the machine, facts about it, the list of packages."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from recorder import environment, notices
from recorder.forking import first_work
from recorder.run import Run
from recorder.settings import Settings
from recorder.system.monitor import Monitor, find_sources
from recorder.system.source import NotHere, Sample, SystemSettings
from recorder.transaction_log.wire import timestamp

REQUIREMENTS = "requirements.txt"

_OF_VENDORS = (
    "open_metrics_endpoints",
    "open_metrics_filters",
    "open_metrics_http_headers",
    "dcgm_exporter",
    "neuron_monitor_config_path",
    "coreweave_metadata_base_url",
    "coreweave_metadata_endpoint",
    "self_usage",
)
"""Settings of single families of system metrics, without their `x_stats_`."""


def system_settings(settings: Settings) -> SystemSettings:
    """What the monitor of system metrics needs to know."""
    extra = {name: getattr(settings, f"x_stats_{name}") for name in _OF_VENDORS}
    return SystemSettings(
        sampling_interval=settings.x_stats_sampling_interval,
        pid=settings.x_stats_pid or os.getpid(),
        track_process_tree=settings.x_stats_track_process_tree,
        disk_paths=settings.x_stats_disk_paths,
        gpu_device_ids=settings.x_stats_gpu_device_ids,
        no_cgroup=settings.x_stats_no_cgroup,
        label=settings.x_label,
        extra={name: value for name, value in extra.items() if value},
    )


def overridden(settings: Settings) -> dict[str, Any]:
    """Facts that the settings know better than the machine."""
    names = {
        "cpu_count": settings.x_stats_cpu_count,
        "cpu_count_logical": settings.x_stats_cpu_logical_count,
        "gpu_count": settings.x_stats_gpu_count,
        "gpu_type": settings.x_stats_gpu_type,
    }
    return {name: value for name, value in names.items() if value is not None}


def write_sample(run: Run, moment: float, sample: Sample, source: str) -> None:
    if run._samples is not None:
        run._samples.add(moment, sample)
    items = [{"key": key, "value_json": repr(float(value))} for key, value in sample.items()]
    run._append("stats", {"timestamp": timestamp(moment), "item": items})


class FirstSamples:
    """Keeps a run from ending before its machine was looked at."""

    def __init__(self, monitor: Monitor, seconds: float) -> None:
        self._monitor = monitor
        self._seconds = seconds

    def stop(self) -> None:
        if self._seconds:
            self._monitor.wait_for_first(self._seconds)


class Background:
    """What takes too long for `init` to wait for: the list of packages, and facts about an unwatched machine."""

    _PATIENCE = 5.0

    def __init__(self, run: Run, system: SystemSettings | None, tell_facts: Any) -> None:
        self._run = run
        self._system = system
        self._tell_facts = tell_facts
        self._thread = threading.Thread(target=self._work, name="recorder: facts", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Waits for what is under way, but not for long."""
        if self._thread is not threading.current_thread():
            self._thread.join(self._PATIENCE)

    def _work(self) -> None:
        with first_work():
            self._find_out()

    def _find_out(self) -> None:
        settings = self._run.settings
        if settings.x_save_requirements and settings.x_primary and not settings.x_disable_machine_info:
            try:
                Path(self._run.dir, REQUIREMENTS).write_text(environment.requirements(), encoding="utf-8")
            except Exception as error:  # packages with broken metadata raise anything; the training goes on
                notices.warn_once(f"the list of installed packages is not recorded: {error}")
            else:
                self._run._append("files", {"files": [{"path": REQUIREMENTS, "type": "WANDB"}]})
        if self._system is not None:
            for name, source in find_sources(self._system):
                if not isinstance(source, NotHere):
                    try:
                        self._tell_facts(name, source.facts())
                    except Exception as error:  # so do drivers
                        notices.warn_once(f"facts about {name} are not recorded: {error}")
                    source.close()
