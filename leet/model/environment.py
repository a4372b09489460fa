"""Where a run runs: the machine and the program, as merged from its environment records."""

from __future__ import annotations

import re
import shlex
import time
from typing import Any

from leet.model.tree import Tree, display
from leet.model.units import format_bytes

_BYTES = re.compile(r"(^|\.)(memory|disk)\.(.+\.)?(total|used)$|memory_total$")


class Environment(Tree):
    """The fields of the EnvironmentRecord by their names there; sizes, times and arguments are shown for people."""

    def text(self, key: str, value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and _BYTES.search(key):
            return format_bytes(value)
        if key == "args" and isinstance(value, list):
            return display(shlex.join(map(str, value)))
        if key == "started_at" and isinstance(value, float):
            try:
                return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(value))
            except (OverflowError, OSError, ValueError):
                pass  # a time that no calendar holds is shown as the number it is
        return display(value)
