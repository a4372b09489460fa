"""What is said in eighty columns can be read to its end, and what is typed stays in sight."""

from __future__ import annotations

from pathlib import Path

from example_run import trained
from sweep import sweep
from test_workspace_screen import at
from viewer import viewing

SMALL = (80, 24)


async def test_a_question_shows_its_keys_until_it_is_answered(tmp_path: Path) -> None:
    sweep(tmp_path)
    async with at(tmp_path, SMALL) as place:
        await place.press("ctrl+a")
        assert "more runs? y selects, any other key does not" in place.text()
        place.screen.status._has_told(place.screen.status._lasting)
        await place.pilot.pause()
        assert "any other key does not" in place.text()
        await place.press("n")
        assert "more runs?" not in place.text()


async def test_a_message_without_room_stands_above_the_line(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), SMALL) as viewer:
        said = "config.toml:6: colors.runs takes meadow, dusk or a list of colours as #rrggbb, and got an apple instead"
        viewer.run.status.say(said)
        await viewer.pilot.pause()
        assert said in " ".join(line.strip() for line in viewer.lines()[-3:-1])
        assert "finished" in viewer.status
        assert "? help" in viewer.status
        viewer.run.status.say()
        await viewer.pilot.pause()
        assert "apple" not in viewer.text()
        viewer.run.status.say("short")
        await viewer.pilot.pause()
        assert "· short" in viewer.status


async def test_what_lasts_gives_its_rows_back(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), SMALL) as viewer:
        viewer.run.status.say("a problem that is told at great length " * 3, lasting=True)
        await viewer.pilot.pause()
        assert viewer.text().count("a problem") == 3
        viewer.run.status._has_told(viewer.run.status._lasting)
        await viewer.pilot.pause()
        assert viewer.text().count("a problem") == 1


async def test_errors_of_a_query_stand_below_it(tmp_path: Path) -> None:
    sweep(tmp_path)
    async with at(tmp_path, SMALL) as place:
        await place.press("f")
        await place.type("statate:running")
        text = place.text()
        assert "statate:running" in text
        assert "at 1: no field statate" in text
        assert "did you mean state?" in text
        for _ in "statate:running":
            await place.press("backspace")
        assert "no field" not in place.text()
        line = place.screen.query_line
        assert line is not None
        assert line.size.height == 1


async def test_errors_of_a_pattern_leave_room_to_type(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), SMALL) as viewer:
        await viewer.press("slash")
        await viewer.type("train/loss|(?P<name>val/acc")
        text = viewer.text()
        assert "train/loss|(?P<name>val/acc" in text
        assert "not a regex yet" in text
        assert viewer.run.filter_line is not None
        assert viewer.run.filter_line.input.size.width > 40
