"""
Metrics of Prometheus and OpenMetrics endpoints that the user names: `openmetrics.<endpoint>.<metric>.<n>`.

`n` numbers the label sets of a metric in the order in which they were first seen and stays for the run; labels
themselves are not recorded. Gauges and counters only, values as they stand on the page.

Settings in `SystemSettings.extra`: `open_metrics_endpoints` {name: URL}, `open_metrics_http_headers` {name: value},
`open_metrics_filters`: None (everything), a list of regular expressions searched in `<endpoint>.<metric>`, or a mapping
of such expressions to {label: expression}, all of which must be found in that label's value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recorder.system.exposition import Labels, read_page
from recorder.system.fetch import fetch
from recorder.system.source import Sample, SystemSettings

if TYPE_CHECKING:
    from recorder.system.families import Warn

SERIES_LIMIT = 10_000
"""Series of one endpoint; label sets that come new after that are left out."""

ACCEPT = "text/plain;version=0.0.4;q=1,*/*;q=0.1"

_Conditions = tuple[tuple[str, re.Pattern[str]], ...]


def open_source(settings: SystemSettings, warn: Warn, endpoint: str) -> OpenMetricsSource:
    """The named endpoint. Nothing is asked yet: it may come up later than the run."""
    return OpenMetricsSource(endpoint, settings.extra["open_metrics_endpoints"][endpoint], settings.extra, warn)


class OpenMetricsSource:
    """One endpoint."""

    name = "openmetrics"

    def __init__(self, endpoint: str, url: str, extra: Mapping[str, Any], warn: Warn) -> None:
        self._endpoint = endpoint
        self._url = url
        self._headers = {"Accept": ACCEPT, **(extra.get("open_metrics_http_headers") or {})}
        self._filter = Filter(extra.get("open_metrics_filters"))
        self._warn = warn
        self._numbers: dict[str, dict[Labels, int]] = {}
        self._series = 0

    def sample(self) -> Sample:
        """OSError where the endpoint does not answer: that loses this sample."""
        return self.read(fetch(self._url, self._headers).decode(errors="replace"))

    def read(self, page: str) -> Sample:
        """The values of a page under their keys."""
        sample: Sample = {}
        for reading in read_page(page):
            if not self._filter.keeps(f"{self._endpoint}.{reading.name}", reading.labels):
                continue
            number = self._number(reading.name, reading.labels)
            if number is not None:
                sample[f"openmetrics.{self._endpoint}.{reading.name}.{number}"] = reading.value
        return sample

    def _number(self, metric: str, labels: Labels) -> int | None:
        known = self._numbers.setdefault(metric, {})
        if labels not in known:
            if self._series >= SERIES_LIMIT:
                self._warn(
                    f"system metrics: {self._url} has more than {SERIES_LIMIT} series; "
                    "the others are left out (x_stats_open_metrics_filters chooses)"
                )
                return None
            known[labels] = len(known)
            self._series += 1
        return known[labels]

    def facts(self) -> dict[str, Any]:
        return {}

    def describe(self) -> str:
        return f"{self._endpoint} at {self._url}"

    def close(self) -> None:
        """No connection is kept."""


class Filter:
    """Which series are wanted. ValueError where an expression cannot be read."""

    def __init__(self, wanted: Sequence[str] | Mapping[str, Mapping[str, str]] | None) -> None:
        self._entries: list[tuple[re.Pattern[str], _Conditions]] = []
        self._matching: dict[str, list[_Conditions]] = {}
        if isinstance(wanted, Mapping):
            for pattern, labels in wanted.items():
                conditions = tuple((label, _compile(value)) for label, value in (labels or {}).items())
                self._entries.append((_compile(pattern), conditions))
        else:
            self._entries = [(_compile(pattern), ()) for pattern in wanted or ()]

    def keeps(self, name: str, labels: Labels) -> bool:
        """Whether a series is wanted; `name` is `<endpoint>.<metric>`."""
        if not self._entries:
            return True
        if name not in self._matching:
            self._matching[name] = [conditions for pattern, conditions in self._entries if pattern.search(name)]
        candidates = self._matching[name]
        values = dict(labels) if any(candidates) else {}
        return any(
            all(label in values and pattern.search(values[label]) for label, pattern in conditions)
            for conditions in candidates
        )


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"x_stats_open_metrics_filters: {pattern!r} is no regular expression: {error}") from error
