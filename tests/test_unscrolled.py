"""Widgets of new sizes are laid out once."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import trained
from textual.screen import Screen
from viewer import viewing


@pytest.mark.parametrize("size", [(120, 40), (200, 50)])
async def test_a_key_that_moves_panes_lays_out_once(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[object] = []
    lay_out = Screen._refresh_layout

    def counted(screen: Screen[None], *args: object, **kwargs: object) -> None:
        laid_out.append(screen)
        lay_out(screen, *args, **kwargs)  # type: ignore[arg-type]

    async with viewing(trained(tmp_path, rows=10), size) as viewer:
        monkeypatch.setattr(Screen, "_refresh_layout", counted)
        for key in ("left_square_bracket", "left_square_bracket", "right_square_bracket", "right_square_bracket"):
            before = viewer.text()
            laid_out.clear()
            await viewer.press(key)
            assert viewer.text() != before
            assert len(laid_out) == 1
