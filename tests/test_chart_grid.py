from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Static

import leet.tui
from leet.charts.layout import plot_area
from leet.model.metrics import MetricStore
from leet.model.units import format_value
from leet.reading.batch import Columns, HistoryBatch
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.chart_source import MetricSource, with_headroom

SIZES = [(80, 24), (120, 40), (200, 50)]


def rows(start: int, values: dict[str, Iterable[float]]) -> HistoryBatch:
    """History rows from step `start` on; all metrics of one length."""
    columns = {name: np.asarray(list(v), float) for name, v in values.items()}
    count = len(next(iter(columns.values())))
    steps = np.arange(start, start + count, dtype=float)
    return HistoryBatch(
        steps,
        steps * 0.5,
        1.7e9 + steps * 0.5,
        Columns(
            tuple(columns),
            np.arange(len(columns) + 1, dtype=np.int64) * count,
            np.tile(np.arange(count, dtype=np.int32), len(columns)),
            np.concatenate(list(columns.values())),
        ),
    )


def waves(metrics: int, start: int, count: int) -> HistoryBatch:
    t = np.arange(start, start + count)
    return rows(start, {f"m{k}": np.sin(t / (10 + k)) + k for k in range(metrics)})


class WallApp(App[None]):
    """A grid over a real store."""

    CSS_PATH = Path(leet.tui.__file__).parent / "leet.tcss"

    def __init__(self, metrics: int = 30, count: int = 1000, **grid: int) -> None:
        super().__init__()
        self.store = MetricStore()
        self.running = True
        if count:
            self.store.append(waves(metrics, 0, count))
        self.grid = ChartGrid(**{"rows": 4, "columns": 3, **grid})
        self.seen: list[Message] = []

    def get_default_screen(self) -> SpanScreen[None]:
        return SpanScreen(id="_default")

    def compose(self) -> ComposeResult:
        with Vertical(id="pane"):
            yield self.grid

    def on_mount(self) -> None:
        self.show()
        self.grid.focus()

    def show(self, names: list[str] | None = None) -> None:
        self.grid.show([MetricSource(self.store, name, lambda: self.running) for name in names or self.store.names()])

    def lines(self) -> list[str]:
        return [strip.text for strip in self.screen._compositor.render_strips()]

    def titles(self) -> list[str]:
        return [source.key for source in self.grid.sources[self.grid.page[0] - 1 : self.grid.page[1]]]


async def settled(pilot: Pilot[None]) -> None:
    """All messages are answered, and a moving mouse has been reacted to."""
    await pilot.pause(0.05)
    await pilot.pause()


def test_no_page_is_named_before_it_is_known_how_much_fits() -> None:
    app = WallApp()
    app.grid.show([MetricSource(app.store, name, lambda: True) for name in app.store.names()])
    assert app.grid.page_label == ""


@pytest.mark.parametrize("size", SIZES)
async def test_shows_as_many_charts_as_fit_and_turns_pages(size: tuple[int, int]) -> None:
    app = WallApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        capacity = app.grid.page_layout.capacity
        assert app.grid.page == (1, capacity, 30)
        assert app.grid.page_label == f"[1–{capacity} of 30]"
        picture = "\n".join(app.lines())
        assert all(f" m{k} " in picture for k in range(capacity))
        app.grid.action_next_page()
        await pilot.pause()
        assert app.grid.page[0] == capacity + 1
        assert f" m{capacity} " in "\n".join(app.lines())
        app.grid.action_last_page()
        last = 29 // capacity * capacity
        assert app.grid.page == (last + 1, 30, 30)
        app.grid.action_next_page()
        assert app.grid.page[0] == 1, "pages wrap around"
        app.grid.action_previous_page()
        assert app.grid.page[0] == last + 1
        app.grid.action_first_page()
        assert app.grid.page[0] == 1


async def test_every_cell_is_covered_whatever_the_size() -> None:
    app = WallApp(rows=4, columns=3)
    async with app.run_test(size=(101, 37)) as pilot:
        layout = app.grid.page_layout
        assert (layout.rows, layout.columns) == (4, 3)
        covered = np.zeros((37, 101), int)
        for place in range(layout.capacity):
            region = layout.region(place)
            covered[region.y : region.bottom, region.x : region.right] += 1
            assert {layout.place_at(region.x, region.y), layout.place_at(region.right - 1, region.bottom - 1)} == {
                place
            }
        assert (covered == 1).all()
        await pilot.resize_terminal(45, 11)
        await pilot.pause()
        assert (app.grid.page_layout.rows, app.grid.page_layout.columns) == (2, 2)
        await pilot.resize_terminal(10, 3)
        await pilot.pause()
        assert app.grid.page_layout.capacity == 1


async def test_a_layout_that_is_gone_when_it_is_painted() -> None:
    app = WallApp(rows=4, columns=3)
    async with app.run_test(size=(101, 37)):
        for width, height in ((101, 12), (40, 37), (40, 12), (101, 0), (0, 37)):
            app.grid.styles.width, app.grid.styles.height = width, height
            # As after a change to a widget that the layout does not know yet.
            app.screen._compositor._full_map_invalidated = True
            lines = app.lines()
            assert len(lines) == 37
            assert {len(line) for line in lines} == {101}


async def test_few_charts_share_the_room() -> None:
    app = WallApp(metrics=2)
    async with app.run_test(size=(120, 40)):
        assert (app.grid.page_layout.rows, app.grid.page_layout.columns) == (1, 2)


async def test_grid_can_be_set() -> None:
    app = WallApp()
    async with app.run_test(size=(200, 50)) as pilot:
        app.grid.action_set_columns(2)
        app.grid.action_set_rows(1)
        await pilot.pause()
        assert app.grid.page == (1, 2, 30)


async def test_focus_moves_over_charts_and_page_edges() -> None:
    app = WallApp()
    async with app.run_test(size=(120, 40)) as pilot:
        grid = app.grid
        grid.action_move("right")
        assert grid.focus_index == 0, "the first move takes hold of the first chart"
        grid.action_move("down")
        assert grid.focus_index == 3
        grid.action_move("left")
        assert grid.focus_index == 2
        grid.action_move("up")
        assert grid.focus_index == 2, "there is nothing above"
        for _ in range(4):
            grid.action_move("down")
        assert grid.focus_index == 14
        assert grid.page[0] == 13
        grid.action_next_page()
        assert grid.focus_index == 26, "the same place of the next page"
        await pilot.pause()
        assert grid.focused_source.key == "m26"  # type: ignore[union-attr]


async def test_focus_stays_with_its_chart_when_the_list_changes() -> None:
    app = WallApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.grid.focus_chart(14)
        app.show([f"m{k}" for k in range(10, 30)])
        await pilot.pause()
        assert app.grid.focus_index == 4
        assert app.grid.page[0] == 1
        app.show(["m1", "m2"])
        await pilot.pause()
        assert app.grid.focus_index is None


async def test_only_changed_and_visible_charts_are_drawn() -> None:
    app = WallApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert app.grid.charts_drawn == 12
        app.grid.data_changed()
        await pilot.pause()
        assert app.grid.charts_drawn == 12, "nothing changed"
        app.store.append(rows(1000, {"m1": [0.5], "m5": [0.5], "m29": [0.5]}))
        app.grid.paint_now()
        assert app.grid.charts_drawn == 14, "m29 is on another page"
        app.show()
        assert app.grid.charts_drawn == 14, "the same charts again"
        app.grid.focus_chart(0)
        assert app.grid.charts_drawn == 15
        app.grid.focus_chart(1)
        assert app.grid.charts_drawn == 17


async def test_nothing_is_drawn_while_hidden() -> None:
    app = WallApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        app.grid.display = False
        await pilot.pause()
        app.store.append(waves(30, 1000, 50))
        app.grid.data_changed()
        app.grid.paint_now()
        await pilot.pause()
        assert app.grid.charts_drawn == 12
        app.grid.display = True
        await pilot.pause()
        assert app.grid.charts_drawn == 24
        app.query_one("#pane").display = False
        await pilot.pause()
        app.store.append(waves(30, 1050, 1))
        app.grid.paint_now()
        assert app.grid.charts_drawn == 24
        app.query_one("#pane").display = True
        await pilot.pause()
        assert app.grid.charts_drawn == 36
        await app.push_screen(SpanScreen())
        app.store.append(waves(30, 1051, 50))
        app.grid.paint_now()
        await pilot.pause()
        assert app.grid.charts_drawn == 36
        await app.pop_screen()
        await pilot.pause()
        assert app.grid.charts_drawn == 48


async def test_a_repaint_marks_only_the_cells_that_look_different() -> None:
    app = WallApp(metrics=12, count=9500)
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        before = app.grid.cells_changed
        assert before >= 150 * 50
        app.store.append(waves(12, 9500, 20))
        app.grid.paint_now()
        assert 0 < app.grid.cells_changed - before < 600
        await pilot.pause()
        shown = app.lines()
        app.grid.refresh(layout=True)
        app.grid._strips = [None] * app.grid.size.height
        await pilot.pause()
        assert app.lines() == shown


async def test_new_data_keeps_a_pause_and_the_last_of_it_is_shown() -> None:
    app = WallApp(metrics=12)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        app.grid.data_changed()
        app.grid._next_data_at = float("inf")
        app.store.append(waves(12, 1000, 10))
        app.grid.data_changed()
        assert app.grid.charts_drawn == 12
        app.grid._data_due()
        assert app.grid.charts_drawn == 24


async def test_charts_that_take_long_are_drawn_in_turn_and_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is as slow as thousands of curves: one is drawn at a time, the one that has waited longest first."""
    monkeypatch.setattr("leet.tui.widgets.chart_grid_wall.AT_ONCE", 0.0)
    app = WallApp(metrics=3)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        shown = [chart.drawn_from for chart in app.grid._page]

        def behind() -> list[bool]:
            return [chart.drawn_from == before for chart, before in zip(app.grid._page, shown, strict=True)]

        app.store.append(waves(3, 1000, 100))
        app.grid._data_due()
        assert behind() == [False, True, True]
        app.store.append(waves(3, 1100, 100))
        app.grid._data_due()
        assert behind() == [False, False, True]
        drawn = app.grid.charts_drawn
        for _ in range(200):
            if app.grid.charts_drawn == drawn + 2:
                break
            await pilot.pause(0.05)
        for chart in app.grid._page:
            assert chart.drawn_from == app.grid._wanted(chart), "nobody has to ask for the rest"


async def test_zoom_stays_while_data_arrives_and_follows_at_the_edge() -> None:
    app = WallApp(metrics=2)
    async with app.run_test(size=(120, 40)) as pilot:
        grid = app.grid
        grid.focus_chart(0)
        for _ in range(5):
            grid.action_zoom_in()
        source = grid.sources[0]
        kept = grid.view(source).window(source.extent())
        app.store.append(waves(2, 1000, 1000))
        grid.paint_now()
        assert grid.active_chart.spec.x_range == kept
        y = grid.active_chart.spec.traces[0].y
        assert grid.sources[1].spec(60, grid.view(grid.sources[1])).x_range[1] >= 1999
        for _ in range(40):
            grid.action_pan("right")
        assert grid.view(source).follow
        app.store.append(waves(2, 2000, 5000))
        grid.paint_now()
        low, high = grid.active_chart.spec.x_range
        assert high >= 6999
        assert high - low == pytest.approx(kept[1] - kept[0])
        assert not np.array_equal(grid.active_chart.spec.traces[0].y, y)
        grid.action_reset_view()
        assert grid.active_chart.spec.x_range[0] == 0
        await pilot.pause()


async def test_scale_key() -> None:
    app = WallApp(metrics=1)
    async with app.run_test(size=(80, 24)) as pilot:
        app.grid.action_cycle_scale()
        await pilot.pause()
        assert "[log]" in "\n".join(app.lines()) or "log" in app.lines()[0]
        app.grid.action_cycle_scale()
        assert app.grid.active_chart.spec.log_y is False


async def test_crosshair_reads_the_data_on_all_charts() -> None:
    app = WallApp(metrics=3, count=40)
    async with app.run_test(size=(200, 50)) as pilot:
        grid = app.grid
        grid.focus_chart(0)
        grid.action_crosshair()
        x, label = grid.crosshair
        assert label == "step"
        grid.action_move("right")
        assert grid.crosshair[0] == x + 1, "samples are sparse: one by one"
        grid.action_move("left")
        grid.action_move("left")
        assert grid.crosshair[0] == x - 1
        await pilot.pause()
        picture = "\n".join(app.lines())
        for k in range(3):
            assert format_value(np.sin((x - 1) / (10 + k)) + k) in picture
        grid.action_move_far("right")
        assert grid.crosshair[0] > x
        assert grid.action_leave()
        assert grid.crosshair is None


async def test_crosshair_is_not_shown_on_another_axis() -> None:
    app = WallApp(metrics=2)
    async with app.run_test(size=(120, 40)):
        drawn = app.grid.charts_drawn
        app.grid.set_crosshair(10.0, "epoch")
        app.grid.paint_now()
        assert app.grid.charts_drawn == drawn
        app.grid.set_crosshair(10.0, "step")
        assert app.grid.charts_drawn == drawn + 2


async def test_click_takes_and_gives_back_the_focus() -> None:
    app = WallApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.click(app.grid, offset=(60, 25))
        assert app.grid.focus_index == 7
        await pilot.click(app.grid, offset=(60, 25))
        assert app.grid.focus_index is None


async def test_wheel_zooms_about_the_pointer() -> None:
    app = WallApp(metrics=1)
    async with app.run_test(size=(120, 40)) as pilot:
        chart = app.grid.chart_at(60, 20)
        area = plot_area(chart.spec, 120, 40)
        at = area.x_at(60)
        for _ in range(6):
            await pilot._post_mouse_events([events.MouseScrollUp], app.grid, offset=(60, 20))
        low, high = app.grid.active_chart.spec.x_range
        assert high - low == pytest.approx(0.9**6 * (area.x_range[1] - area.x_range[0]))
        assert plot_area(app.grid.active_chart.spec, 120, 40).x_at(60) == pytest.approx(at, rel=0.02)
        for _ in range(7):
            await pilot._post_mouse_events([events.MouseScrollDown], app.grid, offset=(60, 20))
        assert app.grid.view(chart.source).x_range is None


async def test_drag_pans() -> None:
    app = WallApp(metrics=1)
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(10):
            app.grid.action_zoom_in()
        low, high = app.grid.active_chart.spec.x_range
        await pilot.mouse_down(app.grid, offset=(60, 20))
        await pilot.hover(app.grid, offset=(80, 22))
        await settled(pilot)
        await pilot.mouse_up(app.grid, offset=(80, 22))
        moved = app.grid.active_chart.spec.x_range
        area = plot_area(app.grid.active_chart.spec, 120, 40)
        assert moved[0] == pytest.approx(low - 20 / area.width * (high - low))
        assert app.grid.focus_index is None, "a drag is no click"


async def test_hover_reads_one_chart_and_leaving_clears() -> None:
    app = WallApp(metrics=2)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        drawn, plain = app.grid.charts_drawn, app.lines()
        for x in (25, 26, 27):
            await pilot.hover(app.grid, offset=(x, 20))
        await settled(pilot)
        assert app.grid.charts_drawn - drawn <= 3, "only the chart under the pointer, and not for every event"
        chart = app.grid.chart_at(27, 20)
        area = plot_area(chart.spec, chart.region.width, chart.region.height)
        assert app.grid.crosshair_on(chart) == area.x_at(27)
        assert app.grid.crosshair_on(app.grid.chart_at(100, 20)) is None
        app.grid.post_message(events.Leave(app.grid))
        await settled(pilot)
        assert app.grid.crosshair_on(chart) is None
        assert app.lines() == plain


async def test_right_drag_reads_all_charts() -> None:
    app = WallApp(metrics=2)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.mouse_down(app.grid, offset=(25, 20), button=3)
        assert app.grid.crosshair_on(app.grid.chart_at(100, 20)) is not None
        await pilot.mouse_up(app.grid, offset=(25, 20))
        assert app.grid.crosshair_on(app.grid.chart_at(100, 20)) is None


async def test_a_hundred_thousand_metrics_cost_a_page() -> None:
    app = WallApp(metrics=12, count=10)
    made: list[int] = []

    class Counted(Sequence[MetricSource]):
        def __len__(self) -> int:
            return 100_000

        def __getitem__(self, index):  # type: ignore[no-untyped-def, override]
            made.append(index)
            return MetricSource(app.store, f"m{index % 12}", lambda: True)

    async with app.run_test(size=(200, 50)) as pilot:
        made.clear()
        app.grid.show(Counted())
        app.grid.action_last_page()
        await pilot.pause()
        assert app.grid.page == (99_997, 100_000, 100_000)
        assert len(made) <= 40


async def test_no_charts_says_so() -> None:
    app = WallApp(count=0)
    async with app.run_test(size=(80, 24)) as pilot:
        app.grid.empty = "no metrics yet"
        await pilot.pause()
        assert "no metrics yet" in "\n".join(app.lines())
        for act in ("next_page", "last_page", "zoom_in", "crosshair", "fullscreen", "cycle_scale", "reset_view"):
            getattr(app.grid, f"action_{act}")()
        app.grid.action_move("down")
        app.grid.action_pan("left")
        assert not app.grid.action_leave()
        app.store.append(waves(3, 0, 10))
        app.show()
        await pilot.pause()
        assert "no metrics yet" not in "\n".join(app.lines())


async def test_messages() -> None:
    seen: list[Message] = []
    app = WallApp()
    async with app.run_test(size=(120, 40), message_hook=seen.append) as pilot:
        app.grid.focus_chart(20)
        app.grid.action_fullscreen()
        app.grid.set_crosshair(5.0, "step")
        await pilot.pause()
        # The hook sees a message once at every node that it bubbles through.
        posted = list({id(message): message for message in seen}.values())
        assert [m.key for m in posted if isinstance(m, ChartGrid.Focused)] == ["m20"]
        assert [m for m in posted if isinstance(m, ChartGrid.PageChanged)][-1].first == 13
        assert [m.source.key for m in posted if isinstance(m, ChartGrid.FullscreenRequested)] == ["m20"]
        assert [m.x for m in posted if isinstance(m, ChartGrid.CrosshairMoved)] == [5.0]


async def test_theme_and_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    app = WallApp(metrics=2)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        dark = {s.style.bgcolor for line in app.screen._compositor.render_strips() for s in line}
        app.theme = "textual-light"
        await pilot.pause()
        await pilot.pause()
        light = {s.style.bgcolor for line in app.screen._compositor.render_strips() for s in line}
        assert None not in dark | light
        assert dark.isdisjoint(light)
    monkeypatch.setenv("NO_COLOR", "1")
    app = WallApp(metrics=2)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        for line in app.screen._compositor.render_strips():
            for segment in line:
                red, green, blue = segment.style.color.get_truecolor() if segment.style.color else (0, 0, 0)
                assert red == green == blue


def test_headroom_grows_in_steps() -> None:
    assert with_headroom(0, 999) == (0, 1000)
    ends = {with_headroom(0, x)[1] for x in range(10_000, 20_000, 10)}
    assert len(ends) < 30
    for x in (7.0, 123.456, 1e9 + 17, 3e-7):
        _, high = with_headroom(0.0, x)
        assert x <= high <= 1.06 * x
    assert with_headroom(3, 3) == (3, 3)


async def test_other_widgets_do_not_make_it_draw() -> None:
    app = WallApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await app.mount(Static("other", id="other"))
        await pilot.pause()
        drawn = app.grid.charts_drawn
        app.query_one("#other", Static).update("different")
        await pilot.pause()
        assert app.grid.charts_drawn == drawn


async def test_sixteen_colours_are_the_terminals_own() -> None:
    app = WallApp(metrics=2)
    async with app.run_test(size=(120, 40)) as pilot:
        app.theme = "ansi-dark"
        await pilot.pause()
        await pilot.pause()
        colors = {s.style.color for line in app.screen._compositor.render_strips() for s in line if s.style.color}
        assert colors
        assert all(color.triplet is None for color in colors)


async def test_ascii_only() -> None:
    app = WallApp(metrics=2, count=50)
    async with app.run_test(size=(120, 40)) as pilot:
        app.grid.ascii = True
        await pilot.pause()
        assert "\n".join(app.lines()).isascii()
