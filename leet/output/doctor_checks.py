"""What logs weigh, held against what the W&B service recommends at most, in the order in which to look for trouble.

    1  new metrics     2  frequency     3  large values     4  sections     5  runs and files

Nothing is refused above these ceilings; pages get slow. Two figures have none that is published: new metrics in one
run, and sections, of which "hundreds already hurt"; above theirs a check says warn and never over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from leet.model.natural import natural_sorted
from leet.output.doctor_skim import RunFacts, Sized

State = Literal["ok", "warn", "over"]

QUESTIONS = (
    "Do recent runs bring many new metrics?",
    "Is logging too frequent?",
    "Are single values, calls or configs very large?",
    "Are there too many sections of panels?",
    "Are there too many runs or files?",
)

_NEAR = 0.5
"""Share of a ceiling from which a check warns."""
_RECENT = 5
_NAMES_SAID = 4
_LARGEST_SAID = 3
_MB = 10**6


@dataclass(frozen=True, slots=True)
class Check:
    """One figure against its ceiling. `unit` is what the numbers count: `bytes`, or nothing."""

    question: int
    name: str
    title: str
    value: float
    ceiling: int
    remedy: str
    run: str = ""
    """The run that the figure is of, where there are several."""
    detail: tuple[str, ...] = ()
    unit: Literal["", "bytes"] = ""
    published: bool = True

    @property
    def state(self) -> State:
        if not self.published:
            return "warn" if self.value > self.ceiling else "ok"
        return "over" if self.value > self.ceiling else "warn" if self.value > self.ceiling * _NEAR else "ok"


@dataclass(slots=True)
class Project:
    """What runs come to, taken in one after the other from the oldest on; none of their names is kept twice."""

    runs: list[RunFacts] = field(default_factory=list)
    metric_counts: list[int] = field(default_factory=list)
    """Number of metrics of each run."""
    metrics: set[str] = field(default_factory=set)
    new: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)
    """Run, number of names that no run before it had, and some of them: of the last runs, the latest at the end."""

    def add(self, facts: RunFacts) -> None:
        new = facts.metrics - self.metrics if self.runs else frozenset()
        self.metrics |= facts.metrics
        if self.runs:
            some = tuple(natural_sorted(new)[:_NAMES_SAID]) if new else ()
            self.new = [*self.new, (run_label(facts), len(new), some)][-_RECENT:]
        self.runs.append(facts)
        self.metric_counts.append(len(facts.metrics))
        facts.metrics = frozenset()  # ten thousand runs with the same names need them once


def run_label(facts: RunFacts) -> str:
    """The name a run goes by: its id, with the one that a person gave it."""
    return f"{facts.run_id} ({facts.display_name})" if facts.display_name not in ("", facts.run_id) else facts.run_id


def checks_of(project: Project) -> list[Check]:
    """All checks, in the order of the questions. A figure of single runs is that of the run with the highest."""
    if not project.runs:
        return []
    return [*_metrics(project), *_frequency(project), *_sizes(project), *_sections(project), *_amounts(project)]


def _metrics(project: Project) -> Iterable[Check]:
    most = max(range(len(project.runs)), key=project.metric_counts.__getitem__)
    highest = f"most in one run: {project.metric_counts[most]:,} in {run_label(project.runs[most])}"
    yield Check(
        0, "metrics", "distinct metrics", len(project.metrics), 100_000,
        "log fewer metrics: means over layers or classes, a histogram for many numbers, a table for many texts",
        detail=(highest,) if len(project.runs) > 1 else (),
    )  # fmt: skip
    if len(project.runs) > 1:
        run, count, _ = max(reversed(project.new), key=lambda entry: entry[1])
        said = tuple(
            f"{label}: {new:,} new ({', '.join(some)}{', …' if new > len(some) else ''})"
            for label, new, some in reversed(project.new)
            if new
        )
        unsteady = "keep names steady from run to run: no ids, dates, steps or hyperparameters in them"
        recent = f"one of the last {len(project.new)} runs" if len(project.new) > 1 else "the last run"
        yield Check(
            0, "new_metrics", f"new ones in {recent}", count, 1_000, unsteady,
            run=run if count else "", detail=said, published=False,
        )  # fmt: skip


def _frequency(project: Project) -> Iterable[Check]:
    calls = "log several metrics in one call, and only every so many steps"
    values = "log fewer metrics at a time, or the many ones less often than the few"
    for name, title, of, ceiling, remedy in (
        ("peak_calls", "log() calls in the busiest minute", "peak_rows", 1_000, calls),
        ("mean_calls", "log() calls a minute on average", "mean_rows", 1_000, calls),
        ("peak_values", "values in the busiest minute", "peak_points", 100_000, values),
        ("mean_values", "values a minute on average", "mean_points", 100_000, values),
        ("steps", "steps of one run", "rows", 500_000, "log every so many steps, or means over them"),
    ):
        run = _highest(project.runs, attrgetter(of))
        yield Check(1, name, title, getattr(run, of), ceiling, remedy, run=_only_label(project, run))


def _sizes(project: Project) -> Iterable[Check]:
    run = _highest(project.runs, lambda facts: facts.largest_values[0].size if facts.largest_values else 0)
    yield Check(
        2, "value", "largest value", run.largest_values[0].size if run.largest_values else 0, _MB,
        "log what is large as a file or an artifact, and a summary of it as the value",
        run=_only_label(project, run), detail=_largest(run.largest_values), unit="bytes",
    )  # fmt: skip
    run = _highest(project.runs, attrgetter("largest_row.size"))
    row = run.largest_row
    # Where the time of the call is the largest, no value is large.
    said = "" if row.name.startswith("_") else f", the largest value in it is {row.name}"
    yield Check(
        2, "call", "largest log() call", row.size, 25 * _MB, "split it over several calls, or log less of it",
        run=_only_label(project, run), unit="bytes",
        detail=(f"step {run.largest_row_step:,}{said}",) if row.name else (),
    )  # fmt: skip
    run = _highest(project.runs, attrgetter("config_size"))
    yield Check(
        2, "config", "config of one run", run.config_size, 10 * _MB,
        "keep data out of the config: a path or an artifact instead",
        run=_only_label(project, run), detail=_largest(run.config_largest), unit="bytes",
    )  # fmt: skip


def _sections(project: Project) -> Iterable[Check]:
    sections: dict[str, int] = {}
    for name in project.metrics:
        before, slash, _ = name.partition("/")
        section = before if slash else "Charts"
        sections[section] = sections.get(section, 0) + 1
    largest = sorted(sections.items(), key=lambda item: (-item[1], item[0]))[:_NAMES_SAID]
    yield Check(
        3, "sections", "sections (what stands before a slash)", len(sections), 100,
        "fewer names before the slash: train/loss and train/accuracy share a section, loss/train and accuracy/train "
        "do not",
        detail=(f"largest: {', '.join(f'{name} ({count:,})' for name, count in largest)}",) if largest else (),
        published=False,
    )  # fmt: skip


def _amounts(project: Project) -> Iterable[Check]:
    yield Check(
        4, "runs", "runs", len(project.runs), 10_000,
        "move old runs away, or into another project; what a sweep tries in seconds can be one run",
    )  # fmt: skip
    run = _highest(project.runs, attrgetter("files"))
    yield Check(
        4, "files", "files of one run", run.files, 1_000, "put many files into one artifact",
        run=_only_label(project, run),
    )  # fmt: skip


def _highest(runs: Sequence[RunFacts], figure: Callable[[RunFacts], float]) -> RunFacts:
    return max(runs, key=figure)


def _only_label(project: Project, run: RunFacts) -> str:
    return run_label(run) if len(project.runs) > 1 else ""


def _largest(sized: Sequence[Sized]) -> tuple[str, ...]:
    return (
        (f"largest: {', '.join(f'{one.name} ({spell_size(one.size)})' for one in sized[:_LARGEST_SAID])}",)
        if sized
        else ()
    )


def spell_size(size: float) -> str:
    """Bytes in the decimal units in which the ceilings are published."""
    for unit, name in ((_MB, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} B"
