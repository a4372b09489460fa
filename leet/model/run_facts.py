"""What a list of runs shows of a log: the outcome of a look at it, flattened, as plain JSON values.

Peek ─► facts (a dict that JSON can hold, for the cache and for other processes) ─► RunEntry
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any

import orjson

from leet.model.leaf import display, flat
from leet.model.record_values import loads
from leet.model.run_entry import RunEntry, Scalar
from leet.model.safe_text import clean
from leet.model.tree import Tree
from leet.reading.peek import Change, Peek
from leet.reading.unparsed import Json

MOST_KEYS = 1000
"""Keys of the config, and of the summary, that are kept of one run of many."""
_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LARGEST = 2**63
_SCALARS = (str, int, float, bool)
_SHORT = 256
"""Characters of a setting that is kept in mind as it is shown."""

_shared: dict[str, str] = {}
"""The same text as one object: ten thousand runs of one project have the same keys, tags and most settings."""
_MOST_SHARED = 1 << 18


def facts_of(peek: Peek) -> dict[str, Any]:
    """The facts of a log. Values that are not finite are spelt as texts."""
    if peek.trouble:
        return {"trouble": peek.trouble}
    return {
        "run_id": peek.run_id,
        "name": peek.display_name,
        "project": peek.project,
        "entity": peek.entity,
        "group": peek.group,
        "job_type": peek.job_type,
        "notes": peek.notes,
        "tags": list(peek.tags),
        "host": peek.host,
        "user": peek.user,
        "started": peek.start_time,
        "config": _flat_config(peek.config),
        "summary": _flat_summary(peek.summary),
        "step": peek.step,
        "runtime": peek.runtime,
        "exit_code": peek.exit_code,
        "begun": peek.begun,
        "named": peek.named,
        "usual_gap": peek.usual_gap,
    }


def entry_with(entry: RunEntry, facts: Mapping[str, Any], *, size: int, modified: float) -> RunEntry:
    """The entry of a run whose log has been looked at; ids and times that the log does not tell stay."""
    if "trouble" in facts:
        size, modified = size or entry.size, modified or entry.modified
        return replace(entry, trouble=facts["trouble"], size=size, modified=modified, known=True)
    if len(_shared) >= _MOST_SHARED:
        _shared.clear()
    share = _shared.setdefault
    run_id = facts["run_id"] or entry.run_id
    project, entity, group, job_type = facts["project"], facts["entity"], facts["group"], facts["job_type"]
    host, user = facts["host"], facts["user"]
    return RunEntry(
        key=entry.key,
        log=entry.log,
        earlier=entry.earlier,
        started=entry.started if facts["started"] is None else facts["started"],
        run_id=run_id,
        name=facts["name"] or run_id,
        project=share(project, project),
        entity=share(entity, entity),
        group=share(group, group),
        job_type=share(job_type, job_type),
        notes=facts["notes"],
        tags=tuple([share(tag, tag) for tag in facts["tags"]]),
        host=share(host, host),
        user=share(user, user),
        # Keys are one object for all runs already where they come from JSON.
        config={key: share(text, text) for key, text in facts["config"].items()},
        summary={
            key: _NON_FINITE.get(value, value) if value.__class__ is str else value
            for key, value in facts["summary"].items()
        },
        step=facts["step"],
        runtime=facts["runtime"],
        exit_code=facts["exit_code"],
        size=size,
        modified=modified,
        known=True,
        begun=facts["begun"],
        usual_gap=facts["usual_gap"],
    )


def _flat_config(changes: Sequence[Change]) -> dict[str, str]:
    if (simple := _simple(changes)) is not None:
        found: dict[str, str] = {}
        for (key,), json in simple.items():
            if key[:1] != "_":
                found.update(_rows(key, json) if len(json) <= _SHORT else _rows.__wrapped__(key, json))
        return found if len(found) <= MOST_KEYS else dict(islice(found.items(), MOST_KEYS))
    tree = Tree()
    for change in changes:
        if change.json is None:
            tree.remove(change.path)
        else:
            tree.merge(change.path, _loads(change.json))
    return {key: display(value) for key, value in _leaves(tree.to_dict())}


def _flat_summary(changes: Sequence[Change]) -> dict[str, Scalar]:
    if (simple := _simple(changes)) is not None:
        values: dict[str, Any] = {key: _loads(json) for (key,), json in simple.items()}
    else:
        tree = Tree()
        for change in changes:
            if change.json is None or change.json == "null":
                tree.remove(change.path)
            else:
                tree.assign(change.path, Json(change.json))
        values = tree.to_dict()
    return {key: _scalar(value) for key, value in _leaves(values)}


def _simple(changes: Sequence[Change]) -> dict[tuple[str], str] | None:
    """The changes where they only set values, each under a key of one level that is set once; else None."""
    found: dict[Any, Any] = dict(changes)
    texts = found.values()
    plain = len(found) == len(changes) and None not in texts and "null" not in texts
    return found if plain and max(map(len, found), default=1) == 1 else None


@lru_cache(1 << 13)  # most settings are those of other runs too
def _rows(key: str, json: str) -> Sequence[tuple[str, str]]:
    """The rows of a setting at the top: dotted keys and values as they are shown; so many as are kept at most."""
    return tuple([(name, display(value)) for name, value in islice(flat(clean(key), _loads(json)), MOST_KEYS)])


def _loads(json: str) -> Any:
    try:
        return orjson.loads(json)
    except ValueError:  # NaN and infinities are spelt bare, which this parser refuses
        return loads(json)


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Dotted keys and values, without what is internal; so many as are kept at most."""
    found = 0
    for key, value in values.items():
        if key[:1] == "_":
            continue
        if value.__class__ in _SCALARS:
            yield _clean_key(key), value
            found += 1
        else:
            for leaf in islice(flat(clean(key), value), MOST_KEYS - found):
                yield leaf
                found += 1
        if found == MOST_KEYS:
            return


_clean_key = lru_cache(1 << 13)(clean)


def _scalar(value: Any) -> Scalar:
    """A leaf of a summary; of anything that is no number, a short text."""
    if value.__class__ is float and math.isfinite(value):  # as nearly all are
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else float(value) if value.bit_length() < 1024 else display(value)
    return display(value)
