"""The table of metric families: who can measure something here, and how each is opened."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module

from recorder.system.source import NotHere, Source, SystemSettings

Warn = Callable[[str], None]
"""Takes one line for the person who trains; called at most once for each kind of trouble."""

Opener = Callable[[], Source]
"""Looks for a family on this machine: a source, or `NotHere`. May take as long as a driver takes to start."""

FAMILIES: dict[str, str] = {
    "host": "recorder.system.host",
    "nvidia": "recorder.system.nvidia_driver",
    "amd": "recorder.system.amd",
    "trainium": "recorder.system.trainium",
    "apple": "recorder.system.apple",
    "graphcore": "recorder.system.graphcore",
    "tpu": "recorder.system.tpu",
    "openmetrics": "recorder.system.openmetrics",
    "dcgm": "recorder.system.dcgm",
    "own": "recorder.system.own",
}
"""Family → module. Each module has `open_source(settings, warn) -> Source`, which raises `NotHere`."""

NEEDED: dict[str, str] = {
    "openmetrics": "open_metrics_endpoints",
    "dcgm": "dcgm_exporter",
    "own": "self_usage",
}
"""Families that are looked for only where this setting (`x_stats_…`) says where they are."""

SEVERAL = frozenset({"openmetrics"})
"""Families whose needed setting is a mapping: one source for each name in it, which `open_source` takes too."""

OPEN_LIMIT = 5.0
"""Seconds that a family gets to answer when a person asks what there is."""


def quiet(message: str) -> None:
    """Takes a warning that nobody asked for."""


def openers(settings: SystemSettings, warn: Warn = quiet) -> dict[str, Opener]:
    """Name → opener, in the order of the table. Nothing is imported or looked for before an opener is called."""

    def opener(module: str, *member: str) -> Opener:
        def open_family() -> Source:
            source: Source = import_module(module).open_source(settings, warn, *member)
            return source

        return open_family

    def unset(setting: str) -> Source:
        raise NotHere(f"x_stats_{setting} is not set")

    table: dict[str, Opener] = {}
    for name, module in FAMILIES.items():
        needed = settings.extra.get(NEEDED[name]) if name in NEEDED else None
        if name in NEEDED and not needed:
            table[name] = partial(unset, NEEDED[name])
        elif name in SEVERAL:
            table |= {f"{name}.{member}": opener(module, member) for member in needed or ()}
        else:
            table[name] = opener(module)
    return table


def find_sources(settings: SystemSettings, limit: float = OPEN_LIMIT) -> list[tuple[str, Source | NotHere]]:
    """
    Every family with its opened source, or why it isn't here. All are asked at once, so that a driver that hangs
    costs `limit` seconds and hides nobody else. The caller closes the sources.
    """
    answers: dict[str, Source | NotHere] = {}
    lock = threading.Lock()
    over = False

    def ask(name: str, opener: Opener) -> None:
        answer = _answer(opener)
        with lock:
            if not over:
                answers[name] = answer
                return
        if not isinstance(answer, NotHere):
            answer.close()

    table = openers(settings)
    threads = {
        name: threading.Thread(target=ask, args=(name, opener), name=f"find {name}", daemon=True)
        for name, opener in table.items()
    }
    for thread in threads.values():
        thread.start()
    for thread in threads.values():
        thread.join(limit)
        limit = limit if not thread.is_alive() else 0.0
    with lock:
        over = True
        late = NotHere(f"did not answer within {OPEN_LIMIT:g} s")
        return [(name, answers.get(name, late)) for name in table]


def _answer(opener: Opener) -> Source | NotHere:
    try:
        return opener()
    except NotHere as reason:
        return reason
    except Exception as error:  # whatever a driver raises is an answer too, and it is shown
        return NotHere(f"{type(error).__name__}: {error}")
