"""Which worker of pytest-xdist runs which tests, and what becomes of them where a worker ends in the middle of one.

A test that takes longer than `faulthandler_timeout` (pyproject.toml) tells where it hangs and ends its worker. The
scheduler of pytest-xdist hands out again what that worker had done already, as units with nothing in them, behind which
the workers left wait for ever (its issues 1323 and 1378), and the test that hung once more, to hang again. A worker in
place of another gets one test, and waits for a second before it begins (issue 1327).
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

ON_ONE_WORKER = {"test_import_hygiene", "test_interop", "test_media_interop", "test_recorder_steps", "test_survival"}
"""Modules that make something dear for all of their tests."""


class Scheduling(LoadScopeScheduling):
    """The tests of some modules on one worker, and the others on any.

    This is what `--dist loadgroup` does for tests that are marked; beside pytest 9.2 the marks have no effect (issue
    1386 of pytest-xdist).
    """

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.split("::", 1)[0]
        return module if Path(module).stem in ON_ONE_WORKER else nodeid

    def remove_node(self, node: WorkerController) -> str | None:
        """The test in which `node` has ended, which is not run again; the ones it had before it go to others."""
        units = self.assigned_work[node]
        left = [(unit, test) for unit in units.values() for test, done in unit.items() if not done]
        if left:
            unit, hung = left[0]
            unit[hung] = True
        for scope in [scope for scope, unit in units.items() if all(unit.values())]:
            del units[scope]
        super().remove_node(node)
        return left[0][1] if left else None

    def _assign_work_unit(self, node: WorkerController) -> None:
        with contextlib.suppress(OSError):  # it has just ended, and is removed with what it was to do
            super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        if node not in self.registered_collections:  # it has only just begun
            return
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)
        if not self.workqueue:
            super()._reschedule(node)  # tells it that nothing more comes
