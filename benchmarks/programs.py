"""The programs that are compared, and the environment they run in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

BIN = Path(sys.executable).parent
OURS = [str(BIN / "leet")]
THEIRS = [str(BIN / "wandb"), "leet"]

QUIET = {"WANDB_ERROR_REPORTING": "false", "WANDB_MODE": "offline", "WANDB_SILENT": "true"}
"""Keeps the SDK and its viewer off the network."""


def environment(home: Path) -> dict[str, str]:
    """The environment for a program under test: a home of its own, nothing of the user's settings.

    Bytecode is kept there, so that from the second start on a checkout is as quick as an installed package.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("WANDB_", "XDG_", "LEET_"))}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, **QUIET, "HOME": str(home), "PYTHONPYCACHEPREFIX": str(home / "bytecode")}
