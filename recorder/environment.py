"""Facts about the program that runs and the machine that it runs on, for the environment record."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import socket
import sys
import time
from pathlib import Path
from typing import Any

from recorder.run_directory import absolute
from recorder.settings import Settings
from recorder.transaction_log.wire import timestamp

_SECRET = ("TOKEN", "JWT", "SECRET", "PASSWORD", "KEY")
"""Parts of the names of variables that nobody wants in a log."""

_LAUNCHED = {
    "RANK": "rank",
    "WORLD_SIZE": "world_size",
    "LOCAL_RANK": "local_rank",
    "LOCAL_WORLD_SIZE": "local_world_size",
    "GROUP_RANK": "group_rank",
    "TORCHELASTIC_RUN_ID": "torchelastic_run_id",
    "TORCHELASTIC_RESTART_COUNT": "torchelastic_restart_count",
    "MASTER_ADDR": "master_addr",
    "MASTER_PORT": "master_port",
}
"""What torchrun tells the processes that it starts."""

_POD = {
    "POD_NAME": "pod_name",
    "POD_NAMESPACE": "pod_namespace",
    "POD_IP": "pod_ip",
    "NODE_NAME": "node_name",
    "JOB_COMPLETION_INDEX": "job_completion_index",
}
"""What Kubernetes tells a container, under the names that its documentation uses."""

_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


def writer_id() -> str:
    """A new UUID of version 7: it marks the records of one writer."""
    number = int(time.time() * 1000) << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 7 << 76
    number = number & ~(0x3 << 62) | 2 << 62
    text = f"{number:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def host_name() -> str:
    """The name of this machine."""
    return socket.gethostname()


def execution(settings: Settings, start: float, root: str) -> dict[str, Any]:
    """The fields of the EnvironmentRecord that are known at once: the program, its arguments, its interpreter."""
    program, arguments = program_and_arguments(settings)
    git = git_repository(settings)
    facts: dict[str, Any] = {
        "os": platform.platform(aliased=True),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "started_at": timestamp(start),
        "docker": settings.docker or None,
        "args": arguments,
        "program": program,
        "email": settings.email,
        "root": root,
        "host": settings.host or host_name(),
        "username": settings.username or _user_name(),
        "executable": settings.x_executable or sys.executable or None,
        "slurm": scheduler() or None,
    }
    if git:
        facts["git"] = {"remote_url": git.get("remote_url"), "commit": git.get("commit")}
        code_path = _below(program, git["root"])
        if code_path:
            facts["code_path"] = code_path
    here = _current_directory()
    local = _below(program, here) if here is not None else None
    if local:
        facts["code_path_local"] = local
    return {name: value for name, value in facts.items() if value is not None}


def scheduler() -> dict[str, str]:
    """What Slurm, torchrun and Kubernetes say of this process, by short names.

    The record has one map for facts of this kind and calls it `slurm`; those of torchrun and Kubernetes have their
    names in front (`torchrun.rank`, `kubernetes.pod_name`).
    """
    known = os.environ
    found = {
        name.removeprefix("SLURM_").lower(): known[name]
        for name in sorted(known)
        if name.startswith("SLURM_") and not any(word in name for word in _SECRET)
    }
    if "RANK" in known and "WORLD_SIZE" in known:
        found |= {f"torchrun.{short}": known[name] for name, short in _LAUNCHED.items() if name in known}
    if "KUBERNETES_SERVICE_HOST" in known:
        found |= {f"kubernetes.{short}": known[name] for name, short in _POD.items() if name in known}
        found.setdefault("kubernetes.pod_name", host_name())  # a pod's host has its name
        with contextlib.suppress(OSError, UnicodeDecodeError):
            found.setdefault("kubernetes.pod_namespace", Path(_NAMESPACE).read_text(encoding="utf-8").strip())
    return found


def rank_label() -> str | None:
    """`rank_<n>` for a process that torchrun, Slurm or MPI has started as one of several."""
    for rank, size in (
        ("RANK", "WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_NTASKS"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
    ):
        number = os.environ.get(rank, "")
        if number.isdigit() and os.environ.get(size, "1") != "1":
            return f"rank_{number}"
    return None


def program_and_arguments(settings: Settings) -> tuple[str | None, list[str]]:
    """The script (or `-m module`) that was started, and what it was called with."""
    arguments = [os.fsdecode(argument) for argument in sys.argv[1:]]
    if settings.program:
        return str(settings.program), arguments
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return f"-m {spec.name.removesuffix('.__main__')}", arguments
    path = getattr(main, "__file__", None)
    return (absolute(path) if path else None), arguments


def git_repository(settings: Settings) -> dict[str, str]:
    """Root, commit and remote of the repository that the current directory is in, read from its files.

    `git` itself is not called: it may be missing, and starting it costs more than all of this.
    """
    if settings.disable_git or settings.x_disable_machine_info:
        return {}
    found = {"remote_url": settings.git_remote_url, "commit": settings.git_commit}
    here = _current_directory()
    root = _find_repository(Path(here)) if here is not None else None
    if settings.git_root:
        root = Path(settings.git_root)
    if root is None:
        return {}
    try:
        control = _control_directory(root)
        common = control
        if (control / "commondir").is_file():  # a worktree
            common = (control / (control / "commondir").read_text().strip()).resolve()
        found["commit"] = found["commit"] or _commit(control, common)
        found["remote_url"] = found["remote_url"] or _remote(common / "config", settings.git_remote)
    except (OSError, UnicodeDecodeError):
        pass  # a damaged repository has no facts to tell
    return {"root": str(root), **{name: value for name, value in found.items() if value}}


def default_project(settings: Settings) -> str:
    """The SDK's name for a project that nobody named: the repository, and where in it the program lies."""
    git = git_repository(settings)
    if not git:
        return "uncategorized"
    name = os.path.basename(git["root"])
    program, _ = program_and_arguments(settings)
    if program and os.path.isabs(program):
        below = os.path.relpath(os.path.dirname(program), git["root"])
        if below != "." and not below.startswith(".."):
            name += f"-{below}".replace(os.sep, "_")
    return "".join("_" if character in "/\\#?%:" else character for character in name)[:128]


def requirements() -> str:
    """The installed packages, one `name==version` a line. Takes a while where many are installed."""
    from importlib.metadata import distributions

    found: dict[str, str] = {}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name and name.lower() not in found:
            found[name.lower()] = f"{name}=={distribution.version}"
    return "".join(f"{found[name]}\n" for name in sorted(found))


def _current_directory() -> str | None:
    """None where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _user_name() -> str | None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if os.environ.get(name):
            return os.environ[name]
    return None


def _below(path: str | None, root: str) -> str | None:
    """The path relative to the root, if it is inside."""
    if path is None or not os.path.isabs(path):
        return None
    relative = os.path.relpath(path, root)
    return None if relative.startswith("..") else relative


def _find_repository(directory: Path) -> Path | None:
    return next((path for path in (directory, *directory.parents) if (path / ".git").exists()), None)


def _control_directory(root: Path) -> Path:
    control = root / ".git"
    if control.is_file():  # a worktree or a submodule: `gitdir: PATH`
        return (root / control.read_text().partition(":")[2].strip()).resolve()
    return control


def _commit(control: Path, common: Path) -> str | None:
    head = (control / "HEAD").read_text().strip()
    if not head.startswith("ref:"):
        return head
    reference = head.partition(":")[2].strip()
    for directory in (control, common):
        if (directory / reference).is_file():
            return (directory / reference).read_text().strip()
    packed = common / "packed-refs"
    if packed.is_file():
        for line in packed.read_text().splitlines():
            commit, _, name = line.partition(" ")
            if name == reference:
                return commit
    return None


def _remote(config: Path, name: str) -> str | None:
    """The address of a remote, without the password that some carry."""
    section = ""
    for line in config.read_text().splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section == f'[remote "{name}"]' and line.partition("=")[0].strip() == "url":
            return _without_password(line.partition("=")[2].strip())
    return None


def _without_password(address: str) -> str:
    scheme, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}" if mark else address
