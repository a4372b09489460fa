"""Guidance at the published limits: one warning each, with name and size, and the data is written all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded import QUIET, log_of, of_kind, rows_of, run_script

START = f"import recorder as wandb\nrun = wandb.init(project='p', settings={QUIET})\n"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("for i in range(2): run.log({'blob': 'x' * (3 << 20), 'small': 1})", ["'blob'", "3 MB", "one value"]),
        ("for i in range(2): run.log({'deep': {'blob': ['x' * (3 << 20)]}})", ["'deep.blob'", "3 MB", "one value"]),
        ("for i in range(2): run.log({f'm{j}': 'x' * 1000000 for j in range(30)})", ["28.6 MB", "one log() call"]),
        ("run.config['big'] = 'x' * (11 << 20); run.config['more'] = 1", ["11 MB", "'big'", "config"]),
        ("for i in range(1100): run.log({'a': i})", ["1,000 times"]),
        ("for i in range(11): run.log(dict.fromkeys(map(str, range(10000)), 1.5))", ["110,000 values"]),
        ("run.log(dict.fromkeys(map(str, range(100001)), 1))", ["100,000 metrics", "different names"]),
    ],
    ids=["value", "nested value", "call", "config", "calls", "values", "metrics"],
)
def test_one_warning(script: str, words: list[str], tmp_path: Path) -> None:
    done = run_script(START + script, tmp_path)
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line]
    if "metrics" in words[0]:  # so many names are so many values as well
        warnings = [line for line in warnings if "names" in line]
    assert len(warnings) == 1, warnings
    assert all(word in warnings[0] for word in words), warnings
    log = log_of(tmp_path)
    if "config" in words:
        assert len(of_kind(log, "config")[0].update[0].value_json) > 11 << 20
    else:
        assert len(rows_of(log)) == (1100 if "1100" in script else 11 if "11" in script else 1 if "1)" in script else 2)


def test_at_the_limits_nothing_is_said(tmp_path: Path) -> None:
    script = (
        "for i in range(999): run.log({f'm{j}': i for j in range(90)})\nrun.log({'b': 'x' * 1000000}, commit=False)"
    )
    assert "WARNING" not in run_script(START + script, tmp_path).stderr
