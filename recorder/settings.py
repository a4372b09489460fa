"""The settings of a run: one table of names, defaults and kinds, filled from files, variables and keywords.

The names are those of the SDK. Later sources win: defaults, settings files (`~/.config/wandb/settings`, then
`<dir>/wandb/settings`), variables `WANDB_<NAME>`, what `init` is given. An `x_` setting has the variables
`WANDB_X_<NAME>` and `WANDB__<NAME>`; some variables have names of their own (`WANDB_DIR`, `WANDB_NAME`, …).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recorder.errors import UsageError

Parse = Callable[[Any], Any]
"""Takes a value from code or the text of a variable; raises ValueError or TypeError for what it cannot be."""

_YEAR = 365 * 86400.0
_LONGEST_ID = 128
_INT32 = range(1 << 31)

_TRUE = {"1", "true", "t", "yes", "y", "on"}
_FALSE = {"0", "false", "f", "no", "n", "off", ""}
_MODES = {"online": "online", "run": "online", "offline": "offline", "dryrun": "offline", "shared": "shared"}


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("give true or false")


def _text(value: Any) -> str:
    return str(value)


def _path(value: Any) -> str:
    path = os.fspath(value)
    if not isinstance(path, str) or "\0" in path:
        raise ValueError("no file can be called so")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ValueError("no file can be called so") from None
    return path


def _label(value: Any) -> str:
    """Part of the name of a file."""
    return _path(str(value))


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("give a finite number")
    return number


def _interval(value: Any) -> float:
    """Seconds between two samples. What is longer than a year is taken as a year, which a clock can wait for."""
    seconds = _number(value)
    if not seconds >= 0.1:
        raise ValueError("at least 0.1 seconds")
    return min(seconds, _YEAR)


def _integer(value: Any) -> int:
    return int(value)


def _count(value: Any) -> int:
    number = int(value)
    if number not in _INT32:
        raise ValueError("give a number from 0 to 2,147,483,647")
    return number


def _any(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        import json

        return json.loads(value)
    return value


def _mapping(value: Any) -> dict[str, str]:
    """Texts by name, or the JSON of such."""
    value = _any(value)
    if not isinstance(value, Mapping):
        raise TypeError("give a dict of texts")
    return {str(name): str(text) for name, text in value.items()}


def _filters(value: Any) -> tuple[str, ...] | dict[str, dict[str, str]]:
    """Regular expressions of series; or such, and expressions of labels for each."""
    value = _any(value)
    if not isinstance(value, Mapping):
        return _texts(value)
    return {str(series): _mapping(labels or {}) for series, labels in value.items()}


def _texts(value: Any) -> tuple[str, ...]:
    """A sequence, JSON, or a list with commas."""
    value = _any(value)
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(str(part) for part in value)


def _integers(value: Any) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,)
    return tuple(int(part) for part in _texts(value))


def _tags(value: Any) -> tuple[str, ...]:
    tags = tuple(value.split(",")) if isinstance(value, str) else tuple(str(tag) for tag in value)
    for tag in tags:
        if not 1 <= len(tag) <= 64:
            raise ValueError(f"a tag has 1 to 64 characters, and {tag!r} has {len(tag)}")
    return tags


def _run_id(value: Any) -> str:
    run_id = str(value)
    if not run_id or run_id != run_id.strip():
        raise ValueError("a run id is not empty and has no blanks around it")
    if set(run_id) & set(":;,#?/'"):
        raise ValueError("a run id has none of the characters :;,#?/'")
    if not run_id.isprintable():
        raise ValueError("a run id has no control characters")
    if run_id in (".", ".."):
        raise ValueError("the id names a directory")
    if len(run_id.encode()) > _LONGEST_ID:
        raise ValueError(f"a run id has at most {_LONGEST_ID} characters")
    return run_id


def _project(value: Any) -> str:
    project = str(value)
    if len(project) > 128:
        raise ValueError("a project has at most 128 characters")
    if set(project) & set("/\\#?%:"):
        raise ValueError("a project has none of the characters /\\#?%:")
    return project


def _one_of(words: Iterable[str]) -> Parse:
    allowed = tuple(words)

    def parse(value: Any) -> str:
        word = str(value).lower()
        if word not in allowed:
            raise ValueError(f"one of {', '.join(allowed)}")
        return word

    return parse


def _mode(value: Any) -> str:
    word = str(value).lower()
    if word == "disabled":
        return word
    if word not in _MODES:
        raise ValueError(f"one of {', '.join([*_MODES, 'disabled'])}")
    return _MODES[word]


def _resume(value: Any) -> str | None:
    """True and False are old spellings of auto and never."""
    if isinstance(value, bool):
        return "auto" if value else None
    word: str = _one_of(("allow", "must", "never", "auto"))(value)
    return word


TABLE: dict[str, tuple[Any, Parse]] = {
    # what the run is
    "entity": (None, _text),
    "project": (None, _project),
    "run_id": (None, _run_id),
    "run_name": (None, _text),
    "run_notes": (None, _text),
    "run_tags": (None, _tags),
    "run_group": (None, _text),
    "run_job_type": (None, _text),
    "sweep_id": (None, _text),
    "resume": (None, _resume),
    "fork_from": (None, _text),
    "resume_from": (None, _text),
    # where and how it is recorded
    "mode": ("online", _mode),
    "root_dir": (None, _path),
    "use_dot_wandb": (None, _boolean),
    "symlink": (True, _boolean),
    "reinit": (None, _any),
    "allow_val_change": (False, _boolean),
    "x_transaction_log_flush_interval": (0.5, _number),
    "x_label": (None, _label),
    "x_primary": (True, _boolean),
    # what the program prints, and what the recorder says
    "console": ("auto", _one_of(("auto", "off", "wrap", "redirect", "wrap_raw", "wrap_emu"))),
    "silent": (False, _boolean),
    "quiet": (False, _boolean),
    # facts about program and machine
    "host": (None, _text),
    "username": (None, _text),
    "email": (None, _text),
    "program": (None, _text),
    "x_executable": (None, _text),
    "docker": (None, _text),
    "disable_git": (False, _boolean),
    "git_root": (None, _text),
    "git_commit": (None, _text),
    "git_remote": ("origin", _text),
    "git_remote_url": (None, _text),
    "x_disable_meta": (False, _boolean),
    "x_disable_machine_info": (False, _boolean),
    "x_save_requirements": (True, _boolean),
    # system metrics
    "x_disable_stats": (False, _boolean),
    "x_stats_sampling_interval": (15.0, _interval),
    "x_stats_pid": (None, _count),
    "x_stats_track_process_tree": (False, _boolean),
    "x_stats_disk_paths": (("/",), _texts),
    "x_stats_gpu_device_ids": (None, _integers),
    "x_stats_gpu_type": (None, _text),
    "x_stats_gpu_count": (None, _count),
    "x_stats_cpu_count": (None, _count),
    "x_stats_cpu_logical_count": (None, _count),
    "x_stats_no_cgroup": (False, _boolean),
    "x_stats_self_usage": (False, _boolean),
    "x_stats_buffer_size": (0, _integer),
    "x_stats_open_metrics_endpoints": (None, _mapping),
    "x_stats_open_metrics_filters": (None, _filters),
    "x_stats_open_metrics_http_headers": (None, _mapping),
    "x_stats_dcgm_exporter": (None, _text),
    "x_stats_neuron_monitor_config_path": (None, _text),
    "x_stats_coreweave_metadata_base_url": (None, _text),
    "x_stats_coreweave_metadata_endpoint": (None, _text),
}
"""Name → default, and how a value is understood."""

_SPECIAL_VARIABLES = {
    "DIR": "root_dir",
    "NAME": "run_name",
    "NOTES": "run_notes",
    "TAGS": "run_tags",
    "JOB_TYPE": "run_job_type",
    "USER_EMAIL": "email",
}

_ELSEWHERE = ("x_file_", "x_graphql_", "x_network", "x_service", "x_internal_", "x_live_", "x_flow_", "x_runqueue")
"""Beginnings of settings that steer the SDK's network and processes: there is nothing here for them to steer."""

_IGNORED = """
    allow_media_symlink allow_offline_artifacts anonymous api_key app_url app_url_override base_url capture_loggers
    code_dir config_paths console_chunk_max_bytes console_chunk_max_seconds console_multipart credentials_file
    disable_code disable_git_fork_point disable_job_creation error_reporting finish_timeout finish_timeout_raises
    force heartbeat_seconds http_proxy https_proxy identity_token_file ignore_globs init_timeout
    insecure_disable_ssl job_name job_source label_disable launch launch_config_path login_timeout
    max_end_of_run_history_metrics max_end_of_run_summary_metrics notebook_name organization program_abspath
    program_relpath relogin sagemaker_disable save_code settings_system show_colors show_emoji
    show_errors show_info show_warnings start_method stop_fn stop_on_fatal_error strict summary_timeout
    summary_warnings sweep_param_path table_raise_on_max_row_limit_exceeded x_cli_only_mode
    x_disable_viewer x_extra_http_headers x_files_dir x_history_value_encoding x_jupyter_name x_jupyter_path
    x_jupyter_root x_log_level x_proxies x_server_side_derived_summary x_skip_transaction_log x_start_time x_sync
    x_sync_dir_suffix x_update_finish_state
"""
"""Settings of the SDK that are accepted and change nothing."""


def is_ignored(name: str) -> bool:
    """Whether a setting of the SDK is accepted and changes nothing."""
    return name in _IGNORED.split() or name.startswith(_ELSEWHERE)


class Settings:
    """Settings by name. `Settings(console="off", x_stats_sampling_interval=5)` is what `init(settings=…)` takes.

    Names that neither this recorder nor the SDK knows are kept in `unknown`.

    Raises UsageError for a value that a setting cannot have.
    """

    def __init__(self, **given: Any) -> None:
        self._values: dict[str, Any] = {}
        self.unknown: list[str] = []
        self.update(given)

    def update(self, given: Mapping[str, Any] | Settings, source: str = "") -> None:
        """Sets what is given and not None. `source` names where it comes from, for errors."""
        if isinstance(given, Settings):
            self._values.update(given._values)
            self.unknown += given.unknown
            return
        if not isinstance(given, Mapping):
            raise UsageError(f"settings are a Settings object or a dict, and not {_shown(given)}")
        for name, value in given.items():
            if name not in TABLE:
                if not is_ignored(name):
                    self.unknown.append(name)
            elif value is not None:
                self._set(name, value, source or f"settings: {name}")

    def _set(self, name: str, value: Any, source: str) -> None:
        try:
            self._values[name] = TABLE[name][1](value)
        except Exception as error:  # objects that are asked for their text raise anything
            reason = str(error) or type(error).__name__
            raise UsageError(f"{source} = {_shown(value)} is not possible: {reason}") from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in TABLE:
            raise AttributeError(f"no setting is called {name!r}")
        return self._values.get(name, TABLE[name][0])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in TABLE and value is None:
            self._values.pop(name, None)
        elif name in TABLE:
            self._set(name, value, f"settings: {name}")
        else:
            object.__setattr__(self, name, value)

    def unset(self, name: str) -> None:
        """Gives a setting its default back."""
        self._values.pop(name, None)

    def is_set(self, name: str) -> bool:
        """Whether anybody gave this setting a value."""
        return name in self._values

    def copy(self) -> Settings:
        """Settings of the same values."""
        copied = Settings()
        copied.update(self)
        return copied

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


def _shown(value: Any) -> str:
    """A value for an error of one line."""
    try:
        text = repr(value)
    except Exception:  # any class may define it as it likes
        return f"a {type(value).__qualname__}"
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def gather(given: Settings, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a new run: files, variables, and what `init` was given, each over the one before.

    Raises UsageError for a value that a setting cannot have, wherever it was set.
    """
    variables = Settings()
    for name, value in environ.items():
        if name.startswith("WANDB_"):
            setting = _variable(name[len("WANDB_") :])
            # An empty tag list is an error, any other empty variable is none at all.
            if setting is not None and (value or setting == "run_tags"):
                variables._set(setting, value, name)
    root = given.root_dir or variables.root_dir or os.curdir
    settings = Settings()
    home = environ.get("WANDB_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".config", "wandb")
    for path in (os.path.join(home, "settings"), os.path.join(root, "wandb", "settings")):
        settings.update(_read_file(path), path)
    settings.update(variables)
    settings.update(given)
    return settings


def _variable(name: str) -> str | None:
    """The setting that the variable `WANDB_<name>` sets, if any."""
    if name in _SPECIAL_VARIABLES:
        return _SPECIAL_VARIABLES[name]
    setting = f"x{name.lower()}" if name.startswith("_") else name.lower()
    return setting if setting in TABLE else None


def _read_file(path: str) -> dict[str, str]:
    """The section `[default]` of a settings file; empty where there is none."""
    if not os.path.isfile(path):
        return {}
    import configparser

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    return dict(parser["default"]) if parser.has_section("default") else {}
