"""Whether more may come into a log: what "not yet" may be said of."""

from __future__ import annotations

import time
from pathlib import Path


def may_grow(log: Path) -> bool:
    """Whether the run of a log goes on, as far as its end and the time of its last write tell."""
    from leet.model.facts_process import stamp_at
    from leet.model.run_entry import RunEntry
    from leet.model.run_facts import entry_with, facts_of
    from leet.model.state import SILENCE
    from leet.reading.peek import peek

    seen = peek(log)
    _, size, modified = stamp_at(seen)
    entry = entry_with(RunEntry("", log), facts_of(seen), size=size, modified=modified / 1e9)
    now = time.time()
    return entry.state(now).live and now - entry.modified < SILENCE
