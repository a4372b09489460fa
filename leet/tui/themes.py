"""The colours of the frame around the charts: our themes, beside those that Textual brings."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

from leet.tui.terminal import Terminal

DARK = Theme(
    name="leet-dark",
    primary="#e8b339",
    secondary="#5fb3d9",
    accent="#e8b339",
    warning="#e6994d",
    error="#ef6a6a",
    success="#6cc887",
    foreground="#d7dae0",
    background="#101318",
    surface="#171b22",
    panel="#202630",
    dark=True,
    variables={
        "input-cursor-background": "#e8b339",
        "input-selection-background": "#5fb3d9 40%",
        "block-cursor-background": "#2c3544",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "none",
    },
)

LIGHT = Theme(
    name="leet-light",
    primary="#9a6700",
    secondary="#0b6b99",
    accent="#9a6700",
    warning="#a84f00",
    error="#b3261e",
    success="#1a7f37",
    foreground="#1f2328",
    background="#fdfcf9",
    surface="#f3f1ea",
    panel="#e8e5db",
    dark=False,
    variables={
        "block-cursor-background": "#d9d3c0",
        "block-cursor-foreground": "#000000",
        "block-cursor-text-style": "none",
    },
)

ANSI = Theme(
    name="leet-16",
    primary="ansi_yellow",
    secondary="ansi_cyan",
    accent="ansi_yellow",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    dark=True,
    ansi=True,
    variables=dict(BUILTIN_THEMES["ansi-dark"].variables),
)
"""The terminal's own sixteen colours, whatever they are, on its own background."""

THEMES = (DARK, LIGHT, ANSI)


def theme_names() -> list[str]:
    """Every theme that `--theme` takes: ours first."""
    return [theme.name for theme in THEMES] + sorted(BUILTIN_THEMES)


def default_theme(terminal: Terminal) -> str:
    """Below 256 colours the nearest of sixteen would swallow backgrounds, so the terminal's own are used there."""
    return ANSI.name if terminal.depth in ("16", "none") else DARK.name
