"""The command palette: every command of the screen under it, then every metric, then every run of the directory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from heapq import nlargest
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from textual.command import Command, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider, SearchIcon
from textual.content import Content
from textual.css.query import NoMatches
from textual.fuzzy import Matcher

from leet.model.safe_text import clean
from leet.settings.table import SETTINGS
from leet.tui.screens.overlay import Overlay

if TYPE_CHECKING:
    from leet.tui.app import FrameApp

MOST = 200
"""Metrics, and runs, that are listed for one query; those that contain it as it stands come first."""
SEARCHED = 2000
"""Metrics, and runs, that are searched for the letters of a query in order, where few contain it as it stands."""
OFFERED = 20
"""Metrics, and runs, that are offered before anything has been typed."""
TIER = 1000.0
"""More than any match scores: what contains the query stands over what only has its letters in order."""

T = TypeVar("T", bound=Hashable)


class Palette(CommandPalette, Overlay[None]):
    """Textual's palette, with a sign in place of its picture, and patience with a list that has not been laid out."""

    def on_mount(self) -> None:
        self.query_one(SearchIcon).icon = "›"

    def _watch__list_visible(self) -> None:
        # What was typed last may be answered when the palette has gone, and its list with it.
        with contextlib.suppress(NoMatches):
            super()._watch__list_visible()

    def _action_command_list(self, action: str) -> None:
        # The rows of a list are known only once it has a size; Textual looks them up before, too.
        with contextlib.suppress(KeyError):
            super()._action_command_list(action)

    def _refresh_command_list(self, command_list: CommandList, commands: list[Command], clear_current: bool) -> None:
        # A search may end while the palette is being taken away, its list first.
        if self.query(CommandList):
            super()._refresh_command_list(command_list, commands, clear_current)


class PlainMatcher(Matcher):
    """Textual's matcher, for which what it marks is text: a metric `[red]` is no markup."""

    def highlight(self, candidate: str) -> Content:
        score, places = self.fuzzy_search.match(self.query, candidate)
        content = Content(candidate)
        # Places are those of the text in lower case, which may be longer: `İ` becomes two characters.
        for place in places if score else ():
            if not candidate[place : place + 1].isspace():
                content = content.stylize(self.match_style, place, place + 1)
        return content


def found(
    items: Sequence[T], direct: Sequence[T], text_of: Callable[[T], str], matcher: Matcher, bonus: float
) -> Iterator[tuple[float, T]]:
    """`direct` with their scores and a bonus, then the best others, `MOST` in all: rows cost much, scores little."""
    for item in direct:
        yield matcher.match(text_of(item)) + bonus, item
    if len(direct) < MOST:
        known = set(direct)
        others = ((matcher.match(text_of(item)), item) for item in items[:SEARCHED] if item not in known)
        scored = [one for one in others if one[0] > 0]
        yield from nlargest(MOST - len(direct), scored, key=itemgetter(0))


class CommandsAndMetrics(Provider):
    """One provider for both, so that their order is ours."""

    def matcher(self, user_input: str, case_sensitive: bool = False) -> Matcher:
        return PlainMatcher(user_input, match_style=self.match_style, case_sensitive=case_sensitive)

    @property
    def _app(self) -> FrameApp:
        from leet.tui.app import FrameApp

        assert isinstance(self.app, FrameApp)
        return self.app

    @property
    def _metrics(self) -> Sequence[str]:
        """Names of the metrics of the run that is shown, if one is."""
        from leet.tui.app import LeetApp

        return self.app.panes_screen.metric_sources.names if isinstance(self.app, LeetApp) else ()

    async def discover(self) -> Hits:
        for title, help_text, callback, _ in self._app.get_system_commands(self.screen):
            yield DiscoveryHit(title, callback, help=help_text)
        for name in self._metrics[:OFFERED]:
            yield DiscoveryHit(Content(clean(name)), self._go(name), text=clean(name), help="Go to this chart")
        for key, shown in self._runs[:OFFERED]:
            yield DiscoveryHit(Content(shown), self._go_to_run(key), text=shown, help="Go to this run")

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        wanted = query.casefold()
        for title, help_text, callback, _ in self._app.get_system_commands(self.screen):
            score = matcher.match(title)
            if score > 0:
                score += 3 * TIER if wanted in title.casefold() else TIER
                yield Hit(score, matcher.highlight(title), callback, help=help_text)
        names = self._metrics
        direct = list(islice((name for name in names if wanted in name.casefold()), MOST))
        for score, name in found(names, direct, str, matcher, 2 * TIER):
            shown = clean(name)
            yield Hit(score, matcher.highlight(shown), self._go(name), text=shown, help="Go to this chart")
        for hit in self._runs_found(query):
            yield hit
        for hit in self._settings_found(query):
            yield hit

    def _settings_found(self, query: str) -> Iterator[Hit]:
        """Settings that contain what is typed, behind everything that is on the screen."""
        matcher, wanted = self.matcher(query), query.casefold()
        for name, setting in SETTINGS.items():
            title = f"{setting.about} ({name})"
            if wanted in title.casefold() and (score := matcher.match(title)) > 0:
                yield Hit(
                    score,
                    matcher.highlight(title),
                    partial(self._app.action_settings, name),
                    text=title,
                    help="Setting",
                )

    @property
    def _runs(self) -> list[tuple[str, str]]:
        """Key and name of every run of the directory that is shown."""
        from leet.tui.app import LeetApp

        return self.app.run_names() if isinstance(self.app, LeetApp) else []

    def _go_to_run(self, key: str) -> Callable[[], None]:
        from leet.tui.app import LeetApp

        assert isinstance(self.app, LeetApp)
        return partial(self.app.go_to_run, key)

    def _runs_found(self, query: str) -> Iterator[Hit]:
        matcher, wanted = self.matcher(query), query.casefold()
        runs = self._runs
        direct = list(islice((run for run in runs if wanted in run[1].casefold()), MOST))
        for score, (key, shown) in found(runs, direct, itemgetter(1), matcher, 1.5 * TIER):
            yield Hit(score, matcher.highlight(shown), self._go_to_run(key), text=shown, help="Go to this run")

    def _go(self, name: str) -> Callable[[], None]:
        from leet.tui.app import LeetApp

        assert isinstance(self.app, LeetApp)
        return partial(self.app.go_to_metric, name)
