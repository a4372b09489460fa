"""Into which groups the selected runs are gathered, as it was chosen and as their settings say now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leet.model.group_curve import Band
from leet.model.run_entry import RunEntry
from leet.model.run_grouping import Grouping, grouping_of
from leet.model.run_value import UnknownValueError
from leet.tui.overlay_groups import OverlayGroup, OverlayGroups
from leet.tui.run_marks import RunMarks


class RunGroups:
    """Of one workspace. `gather` after every change of the selection or of its runs."""

    def __init__(self, by: str, band: Band, marks: RunMarks) -> None:
        """`by`: as it was remembered; what cannot be grouped by is nothing."""
        self.band: Band = band
        self._marks = marks
        self._found: Mapping[str, Sequence[str]] = {}
        self.grouping: Grouping | None = None
        try:
            self.grouping = grouping_of(by)
        except UnknownValueError:
            self.grouping = None

    @property
    def by(self) -> str:
        """What runs are grouped by, as it may be typed; empty for nothing."""
        return self.grouping.name if self.grouping is not None else ""

    @property
    def count(self) -> int:
        return len(self._found)

    def gather(self, entries: Sequence[RunEntry]) -> None:
        """Find the groups of the runs that are selected, and let runs be marked as their groups are."""
        self._found = self.grouping.groups(entries) if self.grouping is not None else {}
        first: dict[str, str] = {}
        for name, keys in self._found.items():
            for key in keys:
                first.setdefault(key, name)
        self._marks.gather(first, self._found)

    def look(self) -> OverlayGroups | None:
        """What charts draw; None where runs are drawn one by one."""
        if self.grouping is None or not self._found:
            return None
        groups = tuple(
            OverlayGroup(name, self._marks.number_of_group(name), frozenset(keys)) for name, keys in self._found.items()
        )
        return OverlayGroups(self.grouping.title, groups, self.band)
