"""Style sheets parsed once for all apps of the tests: each new app would parse the same ones again."""

from __future__ import annotations

from typing import Any

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_parse = Stylesheet._parse_rules
_parsed: dict[Any, list[RuleSet]] = {}


def parse_once(sheet: Stylesheet, css: str, *location: Any, **options: Any) -> list[RuleSet]:
    """The rules of a text; as in one app, nobody changes them, and variables of a theme are part of them."""
    key = (css, location, tuple(options.items()), tuple(sorted(sheet._variables.items())))
    if key not in _parsed:
        _parsed[key] = _parse(sheet, css, *location, **options)
    return _parsed[key]


def share() -> None:
    """From now on."""
    Stylesheet._parse_rules = parse_once  # type: ignore[method-assign]
