"""The store of metrics: columns of many rows, axes, definitions."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.metrics import MetricStore
from leet.model.natural import natural_sorted
from leet.model.short_series import Segment, _merged
from leet.reading.batch import Columns, HistoryBatch
from leet.reading.records import message_class


def history(rows: list[dict[str, float]], first_step: int = 0, **columns: list[float]) -> HistoryBatch:
    names = sorted({name for row in rows for name in row})
    starts, at, values = [0], [], []
    for name in names:
        held = [(i, row[name]) for i, row in enumerate(rows) if name in row]
        at += [i for i, _ in held]
        values += [v for _, v in held]
        starts.append(len(at))
    count = len(rows)
    return HistoryBatch(
        steps=np.array(columns.get("steps", range(first_step, first_step + count)), float),
        runtimes=np.array(columns.get("runtimes", [0.5 * (first_step + i) for i in range(count)]), float),
        timestamps=np.array(columns.get("timestamps", [1e9 + first_step + i for i in range(count)]), float),
        columns=Columns(tuple(names), np.array(starts), np.array(at, np.int32), np.array(values, float)),
    )


def definition(**fields: object) -> object:
    options = {key: fields.pop(key) for key in ("hidden", "step_sync") if key in fields}
    overwrite = fields.pop("overwrite", False)
    record = message_class("MetricRecord")(**fields)
    for key, value in options.items():
        setattr(record.options, key, value)
    record._control.overwrite = overwrite
    return record


def test_rows_of_batches_follow_each_other():
    store = MetricStore()
    assert store.append(history([{"a": 1, "b": 10}, {"a": 2}]))
    assert not store.append(history([{}, {"a": 3}, {"b": 11}], first_step=2))
    assert store.append(history([{"c": 9}], first_step=5))
    assert store.names() == ("a", "b", "c")
    assert store.rows == 6
    assert store.points == 6
    assert store.x_of("a")[2].tolist() == [0, 1, 3]
    assert store.series("a").values.tolist() == [1, 2, 3]
    assert store.x_of("b")[2].tolist() == [0, 4]
    assert store.x_of("c")[2].tolist() == [5]


def test_names_are_in_natural_order_without_internal_ones():
    store = MetricStore()
    store.append(history([{"layer.10": 1, "layer.9": 1, "_hidden": 1, "_wandb.x": 2, "B": 1, "a": 1}]))
    assert store.names() == ("a", "B", "layer.9", "layer.10")
    assert store.names() is store.names()
    assert "_hidden" in store
    assert store.count("_hidden") == 1
    assert store.count("nothing") == 0
    with pytest.raises(KeyError):
        store.series("nothing")


def test_the_axis_can_be_switched():
    store = MetricStore()
    store.append(history([{"a": 1}, {"b": 2}, {"a": 3}], first_step=10))
    for axis, expected in (
        ("auto", ("step", "number", [10, 12])),
        ("step", ("step", "number", [10, 12])),
        ("runtime", ("runtime", "duration", [5.0, 6.0])),
        ("clock", ("time", "clock", [1e9 + 10, 1e9 + 12])),
    ):
        store.axis = axis  # type: ignore[assignment]
        label, kind, x = store.x_of("a")
        assert (label, kind, x.tolist()) == expected
        assert store.x_range("a") == (expected[2][0], expected[2][1])


def test_a_metric_over_its_step_metric():
    store = MetricStore()
    store.define(definition(name="epoch"))
    store.define(definition(glob_name="val/*", step_metric="epoch"))
    store.define(definition(name="val/time", step_metric="_runtime"))
    rows = [{"loss": 5}, {"epoch": 1, "val/acc": 0.5}, {"val/acc": 0.6}, {"epoch": 2, "val/acc": 0.7, "val/time": 1}]
    store.append(history(rows))
    label, kind, x = store.x_of("val/acc")
    assert (label, kind, x.tolist()) == ("epoch", "number", [1, 1, 2])
    assert store.x_of("loss")[0] == "step"
    assert store.x_of("epoch")[0] == "step"
    assert store.x_of("val/time")[:2] == ("runtime", "duration")
    assert store.has_step_metrics
    got_x, got_y = store.trace("val/acc", 1.5, None, 100)
    assert got_x.tolist() == [1, 2]
    assert got_y.tolist() == [0.6, 0.7]
    store.axis = "step"
    assert store.x_of("val/acc")[2].tolist() == [1, 2, 3]


def test_points_before_the_first_value_of_the_step_metric_have_no_x():
    store = MetricStore()
    store.define(definition(name="loss", step_metric="samples"))
    store.append(history([{"loss": 1}, {"loss": 2, "samples": 64}, {"loss": 3}]))
    assert np.isnan(store.x_of("loss")[2][0])
    assert store.x_range("loss") == (64, 64)
    assert store.trace("loss", None, None, 50)[1].tolist() == [2, 3]


def test_a_step_metric_that_was_never_logged_or_is_the_metric_itself_gives_the_step():
    store = MetricStore()
    store.define(definition(glob_name="*", step_metric="epoch"))
    store.append(history([{"loss": 1}]))
    assert store.x_of("loss")[0] == "step"
    store.append(history([{"epoch": 1, "loss": 2}], first_step=1))
    assert store.x_of("loss")[0] == "epoch"
    assert store.x_of("epoch")[0] == "step"


def test_definitions_add_up_unless_they_overwrite():
    store = MetricStore()
    store.define(definition(name="a", step_metric="epoch"))
    store.define(definition(name="a", hidden=True))
    assert (store.definition("a").step_metric, store.definition("a").hidden) == ("epoch", True)
    store.define(definition(name="a", overwrite=True))
    assert (store.definition("a").step_metric, store.definition("a").hidden) == ("", False)
    store.define(definition(glob_name="tr*", step_metric="wide"))
    store.define(definition(glob_name="train/*", step_metric="narrow"))
    store.define(definition(name="train/x", hidden=True))
    assert store.definition("train/y").step_metric == "narrow"
    assert store.definition("tram").step_metric == "wide"
    assert store.definition("train/x").step_metric == "narrow"
    assert store.definition("train/x").hidden
    store.define(definition(name=r"dot\.ted", step_metric=r"my\.step"))
    assert store.definition("dot.ted").step_metric == "my.step"


def test_hidden_metrics_are_drawn():
    store = MetricStore()
    store.define(definition(name="a", hidden=True))
    store.append(history([{"a": 1}]))
    assert store.names() == ("a",)


def test_versions_grow_with_what_is_drawn():
    store = MetricStore()
    store.define(definition(name="loss", step_metric="epoch"))
    store.append(history([{"loss": 1, "epoch": 0, "other": 1}]))
    seen = [store.version("loss")]
    other = store.version("other")
    store.append(history([{"loss": 1}], first_step=1))
    seen.append(store.version("loss"))
    store.append(history([{"epoch": 1}], first_step=2))
    seen.append(store.version("loss"))
    assert store.version("other") == other
    store.define(definition(name="loss", step_metric="x", overwrite=True))
    seen.append(store.version("loss"))
    store.clear()
    seen.append(store.version("loss"))
    assert sorted(set(seen)) == seen
    assert store.names() == ()
    assert store.rows == 0


@pytest.mark.parametrize("seed", range(24))
def test_many_short_series_are_what_they_would_be_one_by_one(monkeypatch: pytest.MonkeyPatch, seed: int):
    """Whatever the mix of wide and narrow batches and of series looked at in between, no point is lost or moved."""
    monkeypatch.setattr("leet.model.metrics._WIDE", 4)
    if seed % 2:  # series grow long soon, and leave few at a time
        for name, value in {"_FAN": 2, "_LONG": 6, "_AT_A_TIME": 3}.items():
            monkeypatch.setattr(f"leet.model.short_series.{name}", value)
    random = np.random.default_rng(seed)
    store, expected, step = MetricStore(), defaultdict(list), 0
    for _ in range(int(random.integers(1, 120))):
        names = [f"m{i}" for i in random.permutation(12)[: random.integers(0, 13)]]
        rows: list[dict[str, float]] = [{} for _ in range(random.integers(1, 25 if random.random() < 0.1 else 3))]
        for i, row in enumerate(rows):
            for name in names:
                if random.random() < 0.8:
                    row[name] = float(random.normal())
                    expected[name].append((step + i, row[name]))
        store.append(history(rows, first_step=step))
        step += len(rows)
        if random.random() < 0.1 and names and names[0] in store:
            assert store.series(names[0]).count == len(expected[names[0]])
        for name, held in expected.items():
            assert store.count(name) == len(held)
    assert store.names() == tuple(natural_sorted(expected))
    for name, held in expected.items():
        assert list(zip(store.x_of(name)[2], store.series(name).values, strict=True)) == held


@pytest.mark.parametrize("looked_at", [(), (3,), (0, 7, 11)])
def test_segments_of_the_same_series_are_merged_as_all_others_are(looked_at: tuple[int, ...]):
    """With one more point of one series, the tables do not fit together, and all is sorted."""
    random = np.random.default_rng(len(looked_at))
    alive = np.ones(12, bool)
    alive[list(looked_at)] = False
    ids = np.arange(12, dtype=np.int32)
    tables = []
    for each in (1, 3, 2):
        rows = np.tile(np.arange(each, dtype=np.int32), 12)
        tables.append(Segment(ids, np.arange(13) * each, rows, random.random(12 * each), 0))
    more = Segment(ids[5:6], np.array([0, 1]), np.array([9], np.int32), np.array([0.5]), 0)
    merged, sorted_too = _merged(tables, alive), _merged([*tables, more], alive)
    assert merged.ids.tolist() == sorted_too.ids.tolist() == np.flatnonzero(alive).tolist()
    for at, series in enumerate(merged.ids.tolist()):
        part, other = slice(*merged.starts[at : at + 2]), slice(*sorted_too.starts[at : at + 2])
        values, rows = sorted_too.values[other].tolist(), sorted_too.rows[other].tolist()
        if series == 5:
            assert (values.pop(), rows.pop()) == (0.5, 9)
        assert merged.values[part].tolist() == values
        assert merged.rows[part].tolist() == rows


def test_wide_runs_cost_few_bytes_per_metric():
    names = tuple(f"layer.{i}" for i in range(20_000))
    starts = np.arange(len(names) + 1)
    store = MetricStore()
    for step in range(16):
        columns = Columns(names, starts, np.zeros(len(names), np.int32), np.full(len(names), float(step)))
        row = np.array([float(step)])
        store.append(HistoryBatch(row, row, row, columns))
    assert store.points == 320_000
    assert all(own is None for own in store._own)
    held = sum(s.values.nbytes + s.rows.nbytes + s.ids.nbytes + s.starts.nbytes for s in store._short._segments)
    assert held < 20 * store.points
    assert store.series("layer.777").values.tolist() == list(range(16))
    assert sum(own is not None for own in store._own) == 1


def test_series_that_have_grown_long_get_arrays_of_their_own():
    names = tuple(f"m{i}" for i in range(1500))
    per_batch = 10
    starts = np.arange(0, len(names) * per_batch + 1, per_batch)
    store = MetricStore()
    for batch in range(12):  # eight make them long, and a third of them leaves with each of the next
        rows = np.tile(np.arange(per_batch, dtype=np.int32), len(names))
        columns = Columns(names, starts, rows, np.repeat(np.arange(len(names), dtype=float), per_batch))
        steps = np.arange(batch * per_batch, (batch + 1) * per_batch, dtype=float)
        store.append(HistoryBatch(steps, steps, steps, columns))
    assert all(own is not None for own in store._own)
    assert store.x_of("m1234")[2].tolist() == list(range(120))
    assert store.x_of("m77")[2].tolist() == list(range(120))
    assert set(store.series("m1234").values) == {1234.0}


@given(st.lists(st.tuples(st.booleans(), st.floats(-5, 5)), max_size=60), st.integers(1, 9))
def test_a_step_metric_in_pieces_ascends_as_a_whole(points, block: int):
    store = MetricStore()
    store.define(definition(name="y", step_metric="x"))
    for start in range(0, len(points), block):
        rows = [{"y": 1.0, "x": x} if known else {"y": 1.0} for known, x in points[start : start + block]]
        store.append(history(rows, first_step=start))
        held = [x for known, x in points[: start + block] if known]
        if held:
            axis = store.abscissa("y")
            assert axis.label == "x"
            assert axis.ascending == (held == sorted(held))
