"""Where a run runs: the machine and the program, as merged from its environment records."""

from __future__ import annotations

import re
import shlex
from typing import Any

from leet.model.tree import Tree, display
from leet.model.units import format_bytes, format_time

_BYTES = re.compile(r"(^|\.)(memory|disk)\.(.+\.)?(total|used)$|memory_total$")


_SAME = (("cpu_count", "cpu.count"), ("cpu_count_logical", "cpu.count_logical"), ("code_path_local", "code_path"))
"""Fields that writers fill twice: the first is left out where the second says the same."""


class Environment(Tree):
    """The fields of the EnvironmentRecord by their names there; sizes, times and arguments are shown for people."""

    def left_out(self) -> frozenset[str]:
        pairs = ((key, self.get(key), self.get(*other.split("."))) for key, other in _SAME)
        return frozenset(key for key, value, same in pairs if value is not None and value == same)

    def text(self, key: str, value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and _BYTES.search(key):
            return format_bytes(value)
        if key == "args" and isinstance(value, list):
            return display(shlex.join(map(str, value)))
        if key == "started_at" and isinstance(value, float):
            return format_time(value, "%Y-%m-%d %H:%M:%S")
        return display(value)
