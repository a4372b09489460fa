"""What `log()` is given → what the row holds: media are written as files, and objects stand for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from recorder import notices
from recorder.media.media import Files, Media

_MANY = 1 << 10
_never: set[type] = {int, float, str, bool, type(None)}
"""Types whose values are no media: scalars of numpy and the like, learned as they come."""

_GONE = object()
"""Stands for a value that is not in the row: it could not be written, or it is a chart, whose table is there."""


def kept(data: Mapping[str, Any], files: Files | None, step: int | str) -> Mapping[str, Any]:
    """The values of a row with objects for the media among them; `data` itself where there are none.

    Media that cannot be written are left out, with one warning: nothing here raises for trouble with the disk.
    `files` is None for a run that is recorded nowhere: then its media are left out in silence.
    """
    charts: dict[str, Any] = {}
    found = _walk(data, (), files, step, charts)
    if not charts:
        return found
    row = dict(found)
    for name, chart in charts.items():
        if files is not None:
            files.chart(chart.config_path(name), chart.config(name))
        value = _value(chart.table_key(name), chart.table, files, step)
        if value is not _GONE:
            row[chart.table_key(name)] = value
    return row


def _walk(
    data: Mapping[str, Any], path: tuple[str, ...], files: Files | None, step: int | str, charts: dict[str, Any]
) -> Mapping[str, Any]:
    """The values with objects for media; `charts` takes charts, wherever they are, by their dotted keys."""
    changed: dict[Any, Any] = {}
    for key, value in data.items():
        kind = type(value)
        if kind in _never:
            continue
        if isinstance(value, dict):
            try:
                new: Any = _walk(value, (*path, str(key)), files, step, charts)
            except RecursionError:
                if path:
                    raise
                new = value  # without end: the row says so when it takes the value
        elif hasattr(kind, "config_path"):
            charts[".".join((*path, str(key)))], new = value, _GONE
        else:
            new = _value(str(key), value, files, step)
        if new is not value:
            changed[key] = new
    if not changed:
        return data
    return {key: new for key, value in data.items() if (new := changed.get(key, value)) is not _GONE}


def _value(key: str, value: Any, files: Files | None, step: int | str) -> Any:
    """What stands in the row for a value: the value itself unless it is media."""
    try:
        media = as_media(value)
        if media is None:
            if not isinstance(value, list | tuple | ModuleType) and len(_never) < _MANY:
                _never.add(type(value))
            return value
        if files is None:
            return _GONE
        return _written(key, media, files, step)
    except OSError as error:
        notices.warn_once(f"{key!r} is not recorded: {error}; nor are other media, until that works", "media")
    except Exception as error:  # foreign figures and frames raise anything; the row keeps its other values
        notices.warn_once(f"{key!r} is not recorded: {notices.reason(error)}", f"media {key}")
    return _GONE


def as_media(value: Any) -> Media | list[Any] | None:
    """The media that a logged value is: itself, a list of them, a figure, a data frame; None for everything else."""
    if isinstance(value, Media):
        return value
    if isinstance(value, list | tuple):
        has_media = any(isinstance(item, Media) for item in value)
        return list(value) if has_media else None
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library in ("pandas", "polars") and kind.__name__ == "DataFrame":
        from recorder.media.table import Table

        return Table(dataframe=value)
    if library == "matplotlib" or (kind is ModuleType and value.__name__ == "matplotlib.pyplot"):
        from recorder.media.image import Image

        return Image(value)
    if library == "plotly" and hasattr(value, "to_plotly_json"):
        from recorder.media.plotly import Plotly

        return Plotly(value)
    return None


def _written(key: str, media: Media | Sequence[Any], files: Files, step: int | str) -> Any:
    if isinstance(media, Media):
        return media.keep(files, key, step)
    first = type(media[0])
    if not isinstance(media[0], Media) or not first.BATCH or any(type(item) is not first for item in media):
        return [item.keep(files, key, step) if isinstance(item, Media) else item for item in media]
    if first.MOST is not None and len(media) > first.MOST:
        notices.warn_once(f"a list has {len(media)} of {first.__name__}: the first {first.MOST} are recorded")
        media = media[: first.MOST]
    return first.batch(media, [item.keep(files, key, step, again=True) for item in media])
