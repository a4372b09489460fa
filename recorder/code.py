"""The code of a program as an artifact."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recorder import environment, notices
from recorder.artifacts import Artifact
from recorder.settings import Settings

if TYPE_CHECKING:
    from recorder.filing import Choice

_LONGEST_NAME = 128
_OWN = ("wandb", ".wandb")


def code_artifact(
    settings: Settings,
    root: str | os.PathLike[str] | None,
    name: str | None,
    include: Choice | None,
    exclude: Choice | None,
) -> Artifact | None:
    """The artifact of the files below `root` that belong to the code; None, and a warning, where there are none."""
    if name is None:
        program, _ = environment.program_and_arguments(settings)
        below = os.path.relpath(program) if program and os.path.isabs(program) else program
        name = _safe(f"source-{settings.project}-{below}")
    artifact = Artifact(name, "code", internal=True)
    top = os.path.abspath(root) if root is not None else None
    for path in _found(top, include or _is_code, exclude or _is_own) if top is not None else ():
        artifact.add_file(path, name=os.path.relpath(path, top))
    if not artifact.paths:
        notices.warn(f"no code is recorded: there is none below {top}")
        return None
    return artifact


def _found(root: str, include: Choice, exclude: Choice) -> Iterator[str]:
    includes, excludes = _taking_both(include), _taking_both(exclude)
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            if includes(path, root) and not excludes(path, root):
                yield path


def _taking_both(choice: Any) -> Any:
    """The function, called with the root too, whether it wants that or not."""
    return choice if len(inspect.signature(choice).parameters) >= 2 else lambda path, root: choice(path)


def _is_code(path: str) -> bool:
    name = os.path.basename(path)
    return name.endswith(".py") or name.startswith("Dockerfile") or name == "requirements.txt"


def _is_own(path: str, root: str) -> bool:
    return os.path.relpath(path, root).split(os.sep)[0] in _OWN


def _safe(name: str) -> str:
    """A name that an artifact can have: other characters become `_`, a long one is cut in the middle."""
    name = re.sub(r"[^a-zA-Z0-9_\-.]", "_", name)
    return name if len(name) <= _LONGEST_NAME else f"{name[:63]}..{name[-63:]}"
