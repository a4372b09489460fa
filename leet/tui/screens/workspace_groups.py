"""What a person does to see the difference between many runs: groups of them in the charts, columns in the list."""

from __future__ import annotations

from leet.model.group_curve import BAND_NAMES, BANDS
from leet.model.run_entry import RunEntry
from leet.model.run_grouping import grouping_of, offered
from leet.model.run_value import RunValue, UnknownValueError, value_named
from leet.model.safe_text import clean
from leet.tui.commands import keys_in_words
from leet.tui.screens.workspace_runs import WorkspaceRuns
from leet.tui.widgets.status_line import Part


class GroupedRuns(WorkspaceRuns):
    """Commands over the selected runs as a whole."""

    def selected_entries(self) -> list[RunEntry]:
        """The selected runs, the pinned one last."""
        entries = self.workspace.entries
        return [entries[key] for key in self.selection.in_drawing_order() if key in entries]

    def own_parts(self) -> list[Part]:
        parts = super().own_parts()
        grouping = self.run_groups.grouping
        if grouping is not None:
            count = self.run_groups.count
            noun = "group" if count == 1 else "groups"
            parts.append(Part(f"by {grouping.title}: {count:,} {noun}", "status--message", rank=7))
        if self.differences and self.baseline:
            entry = self.workspace.entries.get(self.baseline)
            name = clean(entry.name) if entry is not None else "?"
            missing = "" if self.baseline in self.selection else " (not selected)"
            parts.append(Part(f"minus {name}{missing}", "status--message", rank=7))
        return parts

    def hold_against(self, key: str) -> None:
        """Make a run the baseline; empty: none."""
        self.baseline = key
        self.differences = self.differences and bool(key)
        self.runs_memory.keep_baseline(self.baseline, self.differences)
        self.show_charts()
        self.metrics.paint_now()

    def action_baseline(self) -> None:
        entry = self.highlighted
        if entry is None:
            return
        chosen = entry.key != self.baseline
        if chosen and entry.key not in self.selection:
            self.selection.select(entry.key)
            self.selected()
        self.hold_against(entry.key if chosen else "")
        name, draws, compares = clean(entry.name), keys_in_words("differences"), keys_in_words("compare")
        self.tell(
            *(
                f"{name} is the baseline: {draws} draws differences to it, {compares} tells them",
                f"{name} is the baseline: {draws} draws differences",
            )
            if chosen
            else (f"{name} is not the baseline any more",)
        )

    def action_differences(self) -> None:
        """Draw differences to the baseline, or values again."""
        if not self.differences and self.baseline not in self.selection:
            self.baseline = self.selection.pinned or self.baseline
        if not self.differences and self.baseline not in self.selection:
            self.tell(f"which run to compare with? {keys_in_words('baseline')} makes the highlighted one the baseline")
            return
        self.differences = not self.differences
        self.hold_against(self.baseline)
        self.show_status()
        entry = self.workspace.entries.get(self.baseline)
        name = clean(entry.name) if entry is not None else "?"
        self.tell(f"charts draw differences to {name}" if self.differences else "charts draw values")

    def action_group(self) -> None:
        """Ask what to group by."""
        from leet.tui.screens.choice_screen import Choice, ChoiceScreen

        entries = self.selected_entries()
        if len(entries) < 2:
            key, all_listed = keys_in_words("select"), keys_in_words("select_all")
            self.tell(
                f"select two runs or more to group them: {key} selects the highlighted one, {all_listed} all",
                f"select two runs or more: {key} selects, {all_listed} all",
            )
            return
        by = self.run_groups.by
        found = offered(entries)
        if by and by not in dict(found):
            found.insert(0, (by, "as it is now"))
        choices = [Choice("", f"{len(entries):,} curves", "each run by itself")]
        choices += [Choice(name, note) for name, note in found]

        def check(typed: str) -> str:
            try:
                grouping_of(typed, entries)
            except UnknownValueError as error:
                return str(error)
            return ""

        def group(chosen: list[str] | None) -> None:
            if chosen is not None:
                self._group_by(chosen[0], entries)

        self.app.push_screen(ChoiceScreen("Group the selected runs by", choices, [by], check=check), group)

    def _group_by(self, by: str, entries: list[RunEntry]) -> None:
        self.run_groups.grouping = grouping_of(by, entries)
        self.runs_memory.keep_groups(self.run_groups.by, self.run_groups.band)
        self.selected()
        grouping, count = self.run_groups.grouping, self.run_groups.count
        band = BAND_NAMES[self.run_groups.band]
        self.tell(
            *(f"{len(entries):,} runs by {grouping.title}: {count:,} curves, band {band}", f"band: {band}")
            if grouping is not None
            else ("each run by itself",)
        )

    def action_ungroup(self) -> None:
        self._group_by("", [])

    def action_band(self) -> None:
        """The next kind of band around the means."""
        groups = self.run_groups
        if groups.grouping is None:
            self.tell(f"a band belongs to groups: {keys_in_words('group_runs')} groups the selected runs")
            return
        groups.band = BANDS[(BANDS.index(groups.band) + 1) % len(BANDS)]
        self.runs_memory.keep_groups(groups.by, groups.band)
        self.show_charts()
        self.metrics.paint_now()
        self.tell(f"band around the mean of a group: {BAND_NAMES[groups.band]}")

    def action_run_columns(self) -> None:
        """Ask for the columns of the list."""
        from leet.tui.run_choices import column_choices
        from leet.tui.screens.choice_screen import ChoiceScreen

        entries = self.runs.entries or list(self.workspace.entries.values())
        held = [value.name for value in self.runs.values]

        def check(typed: str) -> str:
            try:
                value_named(typed, entries)
            except UnknownValueError as error:
                return str(error)
            return ""

        def show(chosen: list[str] | None) -> None:
            if chosen is not None:
                self._show_columns([value_named(name, entries) for name in chosen])

        choices = column_choices(entries, held)
        self.app.push_screen(ChoiceScreen("Columns of the list", choices, held, several=True, check=check), show)

    def _show_columns(self, values: list[RunValue]) -> None:
        values = list(dict.fromkeys(values))
        self.runs.show_values(values)
        self.runs_memory.keep_columns(values)
        titles = ", ".join(value.title for value in values)
        narrow = values and not self.runs.shows_all_values
        self.tell(
            f"columns: {titles}" + (f"; {keys_in_words('wider')} makes room for all" if narrow else "")
            if values
            else "the usual columns"
        )

    def action_scatter(self) -> None:
        """Settings of the selected runs against their results."""
        from leet.tui.screens.scatter_screen import ScatterScreen, ScatterView

        entries = self.selected_entries()
        if len(entries) < 2:
            key, all_listed = keys_in_words("select"), keys_in_words("select_all")
            self.tell(f"select two runs or more: {key} selects, {all_listed} all")
            return
        grid = self.metrics
        self.app.push_screen(
            ScatterScreen(
                entries,
                {entry.key: self.run_marks.number(entry.key) for entry in entries},
                ScatterView(grid.palette, grid.series_colors),
                ascii_only=grid.ascii,
                result=self.runs_memory.result,
                keep=self.runs_memory.keep_result,
            )
        )
