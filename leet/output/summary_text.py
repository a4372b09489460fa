"""What `leet inspect --summary` prints for people: the facts of a run, its last values, config and last output."""

from __future__ import annotations

from leet.model.record_text import table
from leet.model.safe_text import plain_line
from leet.model.units import counted, format_duration, format_time
from leet.output.run_summary import RunSummary


def summary_text(summary: RunSummary, written_ns: int, now: float) -> str:
    """What `--summary` prints."""
    facts = summary.facts(written_ns, now)
    name, identity = facts["name"], facts["run_id"]
    state, reason = summary.state(now - written_ns / 1e9)
    project = "/".join(part for part in (facts["entity"], facts["project"]) if part)
    rows = [
        ("run", f"{name} ({identity})" if name else identity),
        ("project", project),
        ("file", facts["file"]),
        ("state", f"{state} ({reason})"),
        ("started", facts["start_time"] or ""),
        ("runtime", "" if facts["runtime"] is None else format_duration(facts["runtime"])),
        ("step", "" if facts["step"] is None else str(facts["step"])),
        ("logged", _logged(facts["metrics"], facts["points"])),
        ("tags", ", ".join(facts["tags"])),
        ("notes", facts["notes"]),
        *(("skipped", f"{s['length']} bytes at {s['offset']}: {s['reason']}") for s in facts["skipped"]),
    ]
    lines = list(table(((key, value) for key, value in rows if value), indent=""))
    for title, tree in (("summary", summary.summary), ("config", summary.config)):
        if rows_of := tree.rows():
            lines += ["", title, *table(rows_of)]
    if facts["console"]:
        lines += ["", f"console (last {len(facts['console'])} of {facts['console_lines']} lines)"]
        for line in summary.console.lines():
            clock = format_time(line.time[0], "%H:%M:%S", utc=True) if line.time else ""
            mark = "[stderr] " if line.stream == "stderr" else ""
            lines.append(f"  {clock:8}  {mark}{plain_line(line.text)}".rstrip())
    return "\n".join([*lines, ""])


def _logged(metrics: int, points: int) -> str:
    """What was logged as numbers, the metrics that are drawn as curves."""
    return f"{counted(metrics, 'numeric metric')}, {counted(points, 'point')}" if points else ""
