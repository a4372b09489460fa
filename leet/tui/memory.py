"""How a screen of runs looks: as the settings say at first, later as the directory was left.

What differs from the settings is remembered of the directory, and nothing else, so that a change of the settings is
seen wherever nobody has chosen otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leet.model.filter import TextFilter
from leet.model.metrics import AXES, Axis
from leet.settings.store import settings
from leet.settings.table import SETTINGS, Grid
from leet.settings.view_state import ViewState
from leet.tui import layout, preferences
from leet.tui.chart_memory import kept_views, view_of
from leet.tui.messages import Subject
from leet.tui.widgets.overview import section_key

if TYPE_CHECKING:
    from leet.tui.screens.run_painting import ShownPanes

FILTERED: tuple[Subject, ...] = ("metrics", "system", "overview")
"""What is filtered the same way the next time. A filter of lines or media is for this one time."""

GRIDS = ("metrics", "system", "media")
"""Panes with a grid of their own size."""


class Memory:
    """Of one screen. Whatever stands in the state, of whatever shape, the screen can be shown."""

    def __init__(self, screen: ShownPanes, view: ViewState) -> None:
        self._screen = screen
        self._view = view
        self._place = screen.PLACE
        self._said = False
        self._usual: dict[str, bool | None] = {}
        """Which panes the settings show."""
        self._grids: dict[str, Grid | None] = {}
        """How many charts the settings show; None: as many as there is room for."""
        self._held = settings()
        """The settings that the screen wears."""

    # The settings

    def wear_settings(self) -> None:
        """Panes and grids as the settings have them."""
        screen, held = self._screen, self._held
        for name in screen.wanted:
            setting = f"panes.{self._place}.{name}"
            if setting in SETTINGS:
                # What is shown is shown where there is room, but a list of runs always.
                on = None if screen.wanted[name] is not True else True
                screen.wanted[name] = on if held.toggle(setting) else False
        self._usual = dict(screen.wanted)
        for name in GRIDS:
            self._grids[name] = held.grid(f"grids.{self._place}_{name}")
            screen.choose_grid(name, *_size(self._grids[name]))
        self._set_axis(held.choice("charts.x_axis"))

    def settings_changed(self, guides: str, smoothing: float) -> None:
        """Wear the new settings where they are others; what a person chose here stays where they are not.

        `guides` and `smoothing` are those of the charts before they were dressed anew.
        """
        screen, before, held = self._screen, self._held, settings()
        self._held = held
        if before.choice("charts.guides") == held.choice("charts.guides"):
            screen.metrics.guides = screen.system.guides = guides
        if before.choice("smoothing") == held.choice("smoothing"):
            screen.metrics.smoothing = smoothing
        if before.choice("charts.x_axis") != held.choice("charts.x_axis"):
            self._set_axis(held.choice("charts.x_axis"))
        for name in screen.wanted:
            setting = f"panes.{self._place}.{name}"
            if setting in SETTINGS and before.toggle(setting) != held.toggle(setting):
                screen.wanted[name] = self._usual[name] = None if held.toggle(setting) else False
        for name in GRIDS:
            size = held.grid(f"grids.{self._place}_{name}")
            if size != self._grids[name]:
                self._grids[name] = size
                screen.choose_grid(name, *_size(size))

    # What is remembered

    def restore(self) -> None:
        """As the directory was left. An older version, or somebody else, may have written anything."""
        screen = self._screen
        for name, shown in _pairs(self._get("panes")):
            if name in screen.wanted and isinstance(shown, bool):
                screen.wanted[name] = shown
                if shown:
                    screen.remember_asked(name)
        for name, share in _pairs(self._get("shares")):
            known = name in screen.wanted or name.startswith(section_key(""))
            if known and isinstance(share, float) and layout.SHARES[0] <= share <= layout.SHARES[1]:
                screen.shares[name] = share
        for name, size in _pairs(self._get("grids")):
            if name in GRIDS and isinstance(size, list) and len(size) == 2:
                rows, columns = (n if isinstance(n, int) and 1 <= n <= Grid.MOST else None for n in size)
                screen.choose_grid(name, rows, columns)
        for name, held in _pairs(self._get("filters")):
            if name in FILTERED and isinstance(held, list) and len(held) == 2 and held[1] in ("regex", "glob"):
                wanted = TextFilter(str(held[0]), held[1])
                if wanted.error is None:
                    screen.restore_filter(name, wanted)
        if self._get("axis") in AXES:
            self._set_axis(self._get("axis"))
        screen.metric_sources.set_log_x(self._get("log_x") is True)
        for name, grid in (("metrics", screen.metrics), ("system", screen.system)):
            for key, chosen in _pairs(self._get(f"charts.{name}")):
                if (view := view_of(chosen)) is not None:
                    grid.views[key] = view
            marked, alone = self._get(f"favourites.{name}"), self._get(f"favourites_alone.{name}")
            if isinstance(marked, list):
                grid.favourites.restore([key for key in marked if isinstance(key, str)], alone is True)
        if self._get("guides") in ("off", "dots", "horizontal"):
            screen.metrics.guides = screen.system.guides = self._get("guides")
        if self._get("smoothing") in (0.0, 0.6, 0.9, 0.99):
            screen.metrics.smoothing = float(self._get("smoothing"))

    def keep(self) -> None:
        """Remember how the screen looks now, as far as it is not as the settings say."""
        screen, held = self._screen, settings()
        asked = sorted(screen.wanted, key=screen.asked_place)
        panes = [[n, screen.wanted[n]] for n in asked if screen.wanted[n] not in (None, self._usual.get(n))]
        self._set("panes", panes)
        self._set("shares", [[name, round(share, 4)] for name, share in screen.shares.items()])
        grids = []
        for name, usual in self._grids.items():
            size = screen.grid_chosen(name)
            if size not in ((None, None), _size(usual)):
                grids.append([name, list(size)])
        self._set("grids", grids)
        filters = [[name, [kept.text, kept.mode]] for name in FILTERED if (kept := screen.filters[name])]
        self._set("filters", filters)
        axis = screen.metric_sources.axis
        self._set("axis", axis if axis != held.choice("charts.x_axis") else None)
        self._set("log_x", screen.metric_sources.log_x or None)
        for name, grid in (("metrics", screen.metrics), ("system", screen.system)):
            self._set(f"charts.{name}", kept_views(grid.views))
            self._set(f"favourites.{name}", grid.favourites.keys)
            self._set(f"favourites_alone.{name}", grid.favourites.alone or None)
        guides = screen.metrics.guides
        self._set("guides", guides if guides != held.choice("charts.guides") else None)
        smoothing = screen.metrics.smoothing
        self._set("smoothing", smoothing if smoothing != preferences.smoothing() else None)
        if self._view.note and not self._said:
            self._said = True
            screen.tell(self._view.note)

    def save(self) -> None:
        """Write it, now."""
        self._view.save()

    def _get(self, key: str) -> Any:
        return self._view.get(f"{self._place}.{key}")

    def _set(self, key: str, value: object) -> None:
        self._view.set(f"{self._place}.{key}", None if value == [] else value)

    def _set_axis(self, axis: Axis | str) -> None:
        self._screen.metric_sources.set_axis(next(known for known in AXES if known == axis))


def _size(grid: Grid | None) -> tuple[int | None, int | None]:
    return (None, None) if grid is None else (grid.rows, grid.columns)


def _pairs(held: object) -> list[tuple[str, Any]]:
    """Pairs of a name and something, as far as it is a list of such."""
    if not isinstance(held, list):
        return []
    return [
        (pair[0], pair[1]) for pair in held if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
    ]
