"""What the command palette finds besides commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from leet.model.safe_text import clean

if TYPE_CHECKING:
    from leet.tui.app import LeetApp

MOST = 200
"""Metrics that are scored for one query; those that contain it as it stands come first."""


class GoToMetric(Provider):
    """Every metric of the run by name."""

    @property
    def _app(self) -> LeetApp:
        from leet.tui.app import LeetApp

        assert isinstance(self.app, LeetApp)
        return self.app

    async def discover(self) -> Hits:
        for name in self._app.run_screen.metric_sources.names[:20]:
            yield DiscoveryHit(Content(clean(name)), self._go(name), text=clean(name), help="Go to this chart")

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        names = self._app.run_screen.metric_sources.names
        wanted = query.casefold()
        direct = list(islice((name for name in names if wanted in name.casefold()), MOST))
        known = set(direct)
        fuzzy = [name for name in names[: 10 * MOST] if name not in known]
        for name in direct + fuzzy:
            score = matcher.match(name)
            if score > 0:
                yield Hit(
                    score, matcher.highlight(clean(name)), self._go(name), text=clean(name), help="Go to this chart"
                )

    def _go(self, name: str) -> Callable[[], None]:
        return partial(self._app.go_to_metric, name)
