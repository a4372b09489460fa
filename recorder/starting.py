"""How a run begins: settings are gathered, its directory is made, and what records it is set going."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from recorder import VERSION, ending, environment, notices, resume, run_directory
from recorder.beside import Background, FirstSamples, overridden, system_settings, write_sample
from recorder.children import AttachedRun, Door, connect
from recorder.console import Capture
from recorder.errors import Error, UsageError
from recorder.notebook import in_notebook
from recorder.redirect import Redirect
from recorder.run import Run
from recorder.run_config import as_mapping
from recorder.settings import Settings, gather, is_ignored
from recorder.system.monitor import Monitor
from recorder.transaction_log.writer import FLUSH_INTERVAL, LogWriter

MIN_CONSUMER = "0.70.0"
"""The oldest server that the records are meant for, as the SDK 0.31 has it."""

AROUND = "LEET_RECORD"
"""A variable that tells a command of `leet record`, and what it starts, that its output is recorded already."""

_SHOWN = 60
"""Characters of a name in a message."""

_active: list[Run] = []
"""Runs of this process that go on, in the order in which they began."""

_global: Run | None = None
_lock = threading.RLock()


def current() -> Run | None:
    """The run that the module-level functions mean."""
    return _global


def attach() -> AttachedRun:
    """Lets this process log into the run of the process that has started it, and `recorder.log()` mean that run.

    Raises:
        UsageError: there is no such run, or it has ended.
    """
    global _global
    attached = connect()
    _global = cast(Run, attached)  # it has the calls of a run that record something
    return attached


def init(
    project: str | None = None,
    entity: str | None = None,
    *,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the SDK's name
    dir: str | os.PathLike[str] | None = None,  # noqa: A002
    config: Any = None,
    tags: Sequence[str] | str | None = None,
    notes: str | None = None,
    group: str | None = None,
    job_type: str | None = None,
    mode: str | None = None,
    resume: bool | str | None = None,
    fork_from: str | None = None,
    resume_from: str | None = None,
    reinit: bool | str | None = None,
    force: bool | None = None,
    allow_val_change: bool | None = None,
    config_exclude_keys: Sequence[str] | None = None,
    config_include_keys: Sequence[str] | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    **others: Any,
) -> Run:
    """Starts a run and makes it the one that `recorder.log()` and its like mean.

    The arguments are those of `wandb.init`. Whatever the mode, a run is recorded on disk: `online` and `shared`
    are taken as `offline`, and `disabled` records nothing. While a run is active, another `init` gives that run back,
    unless `reinit` says `finish_previous` (or True) or `create_new`. In a notebook, where the cell that starts a run
    is run again and again, it finishes the previous one unless `reinit` says `return_previous`.

    Raises:
        UsageError: a setting with a value that it cannot have.
    """
    given = Settings()
    if settings is not None:
        given.update(settings)
    keywords = {
        "project": project,
        "entity": entity,
        "run_name": name,
        "run_id": id,
        "root_dir": os.fspath(dir) if dir is not None else None,
        "run_tags": (tags,) if isinstance(tags, str) else tags,
        "run_notes": notes,
        "run_group": group,
        "run_job_type": job_type,
        "mode": mode,
        "reinit": reinit,
        "allow_val_change": allow_val_change,
        "fork_from": fork_from,
        "resume_from": resume_from,
    }
    if isinstance(resume, str) and resume not in ("allow", "must", "never", "auto"):
        keywords |= {"run_id": id or resume, "resume": "allow"}  # an old spelling: resume=<id>
    else:
        keywords["resume"] = resume
    given.update(keywords)
    chosen = gather(given)
    notices.configure(silent=chosen.silent, quiet=chosen.quiet)
    asked = {name for name, value in others.items() if not (is_ignored(name) or value in (None, False))}
    unknown = sorted({*chosen.unknown, *asked})
    if unknown:
        notices.warn_once(f"these settings are not known here and change nothing: {', '.join(unknown)}")
    with _lock:
        active = _active[-1] if _active else None
        if active is not None:
            reinit = chosen.reinit
            if reinit in (None, "default"):
                reinit = "finish_previous" if in_notebook() else "return_previous"
            if reinit in (True, "finish_previous"):
                for previous in list(_active):
                    previous.finish()
            elif reinit != "create_new":
                if chosen.resume == "must":
                    raise Error("a run is active; finish it before another one is resumed")
                notices.say(f"run {active.id} is active, and init() gives it back; finish() ends it")
                return active
        if os.environ.get(AROUND) and chosen.mode != "disabled":
            two = "`leet record` keeps what is printed in a run of its own, beside this one with the metrics"
            notices.say_once(f"{two}; started without it, this run keeps both", "around")
        values = _selected(as_mapping(config), config_include_keys, config_exclude_keys)
        return start(chosen, values, make_global=chosen.reinit != "create_new")


def start(
    settings: Settings,
    config: Mapping[str, Any],
    *,
    make_global: bool = True,
    facts: Mapping[str, Any] | None = None,
    wait_for_first: float = 0.0,
) -> Run:
    """Starts a run of gathered settings. `facts` replaces fields of its first environment record.

    A run that ends at once waits up to `wait_for_first` seconds for the hardware record and the first samples.
    """
    began = time.time()
    _fill_in(settings)
    run = _open(settings, began)
    with contextlib.suppress(Error):
        run.config.update(as_mapping(_defaults()), allow_val_change=True)
    run.config.update(config, allow_val_change=True)
    if not run.disabled:
        _begin(run, dict(facts or {}), wait_for_first)
    _active.append(run)
    run._afterwards.append(_retire)
    if make_global:
        global _global
        _global = run
    return run


def _selected(
    config: Mapping[str, Any], include: Sequence[str] | None, exclude: Sequence[str] | None
) -> dict[str, Any]:
    if include and exclude:
        raise UsageError("Expected at most only one of exclude or include")
    return {
        key: value
        for key, value in config.items()
        if (not include or key in include) and (not exclude or key not in exclude)
    }


def _defaults() -> str | None:
    """The config file that the SDK reads by itself."""
    return "config-defaults.yaml" if os.path.isfile("config-defaults.yaml") else None


def _fill_in(settings: Settings) -> None:
    """Gives settings that nobody set the values that the machine suggests."""
    if settings.project is None:
        settings.project = environment.default_project(settings)
    if settings.host is None:
        settings.host = environment.host_name()
    if settings.x_label == "auto":
        settings.unset("x_label")
        if label := environment.rank_label():
            settings.x_label = label
    git = environment.git_repository(settings)
    if git.get("commit"):
        settings.git_commit = git["commit"]
    if git.get("remote_url"):
        settings.git_remote_url = git["remote_url"]


class _Nowhere:
    """The log of a run that is not recorded."""

    def append(self, record: bytes, keep: bool = False) -> None:
        """Forgets the record."""

    def append_all(self, records: Iterable[bytes]) -> None:
        """Forgets the records."""

    def append_late(self, make: Callable[[], Iterable[bytes]], size: int) -> None:
        """Makes no records."""

    def flush(self) -> None:
        """Has nothing to write."""

    def close(self, patience: float = 0.0) -> None:
        """Has nothing to close."""


def _open(settings: Settings, began: float) -> Run:
    """The run with its directory and log; recorded nowhere if it shall not or cannot be recorded."""
    if settings.mode != "disabled":
        root = run_directory.absolute(settings.root_dir or os.curdir)
        try:
            base = run_directory.base_directory(root, settings.use_dot_wandb)
            where = resume.beginning(settings, base)
            directory, run_id = run_directory.make_run_directory(base, settings.run_id, began)
            log = LogWriter(
                directory / f"run-{run_id}.wandb",
                flush_interval=min(1.0, settings.x_transaction_log_flush_interval or FLUSH_INTERVAL),
                warn=notices.warn,
                restored=lambda: (directory / "files").mkdir(exist_ok=True),
            )
        except OSError as error:
            notices.warn(f"nothing is recorded: {error}")
        else:
            settings.run_id = run_id
            if settings.symlink:
                run_directory.point_latest_run(base, directory)
            run = Run(settings, run_id, directory, log, began, where)
            if settings.resume == "auto":
                resume.note_id(base, run_id)
                run._afterwards.append(lambda ended: None if ended.exit_code else resume.forget_id(base))
            log.before_writing.append(run._transcript.settle)
            return run
    return Run(settings, settings.run_id or run_directory.new_id(), None, _Nowhere(), began)


def _begin(run: Run, facts: Mapping[str, Any], wait_for_first: float) -> None:
    """Writes the first records and sets going what works beside the run."""
    settings = run.settings
    writer = environment.writer_id()
    run._append("header", {"version_info": {"producer": f"leet-recorder {VERSION}", "min_consumer": MIN_CONSUMER}})
    run._features["offline"] = True
    if len(run.config):
        run._features["set_init_config"] = True
    run._write_run()
    run._opened = True
    about_machine = settings.x_primary and not settings.x_disable_meta and not settings.x_disable_machine_info
    if about_machine:
        root = run_directory.absolute(settings.root_dir or os.curdir)
        known = {**environment.execution(settings, run.start_time, root), **facts}
        run._append("environment", {**known, "writer_id": writer})

    def tell_facts(source: str, found: Mapping[str, Any]) -> None:
        if about_machine and not run._exit_written:
            run._append("environment", {**found, **overridden(settings), "writer_id": writer})

    system = system_settings(settings)
    measured = not settings.x_disable_stats and not settings.x_disable_machine_info
    if measured:
        if settings.x_stats_buffer_size:
            from recorder.sample_buffer import SampleBuffer

            run._samples = SampleBuffer(settings.x_stats_buffer_size, settings.x_label)
        monitor = Monitor(system, lambda *sample: write_sample(run, *sample), warn=notices.warn, facts=tell_facts)
        monitor.start()
        run._parts += [monitor, FirstSamples(monitor, wait_for_first)]
    run._tell_features()
    background = Background(run, None if measured or not about_machine else system, tell_facts)
    background.start()
    run._parts.append(background)
    door = Door(run)
    door.open()
    run._parts.append(door)  # for forked children to leave it alone
    run._before_end.append(door.stop)
    _greet(run)
    if settings.console != "off":
        capture: Capture | Redirect
        if settings.console == "redirect":
            capture = Redirect(run._print)
        else:
            capture = Capture(run._print)
            if isinstance(run._log, LogWriter):
                run._log.before_writing.append(capture.look_again)
        capture.start()
        run._parts.append(capture)
    ending.watch(run)


def _greet(run: Run) -> None:
    notices.say(f"recording run {_shown(run)} to {run.sync_dir}")
    if run.settings.mode != "offline":
        upload = f"runs are recorded on disk, not uploaded; to upload this one: wandb sync {run.sync_dir}"
        notices.say_once(upload, "upload")


def _retire(run: Run) -> None:
    """Takes a finished run out of the lists, and says where it lies."""
    global _global
    with _lock:
        if run in _active:
            _active.remove(run)
        # While the process ends, threads that go on logging are to find the run over, not missing.
        if _global is run and not ending.is_ending():
            _global = None
    if not run.disabled:
        notices.say(f"run {_shown(run)} is in {run.sync_dir}")


def _shown(run: Run) -> str:
    """Its name, which may be a long command line, or its id."""
    name = " ".join((run.name or run.id).split())
    name = "".join(character if character.isprintable() else "?" for character in name)
    return name if len(name) <= _SHOWN else f"{name[: _SHOWN - 1]}…"


def _forget_parents_runs() -> None:
    """In a forked child there is no lock to wait for and no run of its own.

    `recorder.log()` goes on meaning the parent's run, which says what to do instead.
    """
    global _lock
    _lock = threading.RLock()
    _active.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents_runs)
