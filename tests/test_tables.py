"""Tables: the types of their columns, what may be added, how often they are recorded; and charts of them."""

from __future__ import annotations

import datetime
import decimal
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded import QUIET, log_of, of_kind, rows_of, run_script

from recorder import plot
from recorder.artifacts import Artifact
from recorder.errors import Error
from recorder.histogram import Histogram
from recorder.media.column_types import from_dtype, optional, taking, type_of
from recorder.media.image import Image
from recorder.media.table import Table

IMAGE = np.full((2, 2), 9)


def held(table: Table) -> dict[str, Any]:
    """The table as it stands in an artifact, read again as the SDK reads it."""
    artifact = Artifact("held", "dataset")
    entry = artifact.add(table, "table")
    assert entry.local_path is not None
    found: dict[str, Any] = json.loads(Path(entry.local_path).read_text(encoding="utf-8"))
    return found


CELLS: list[list[Any]] = [
    [1, 2.5, np.float32(0.5), np.int8(3), float("nan"), None],
    ["a", "é", None],
    [True, np.bool_(False), None],
    [[1, 2], [3.5], (), None],
    [["a", None], ["b"]],
    [[], [1]],
    [{"a": 1}, {"a": 2}],
    [{"a": 1, "b": {"c": "x"}}],
    [datetime.datetime(2020, 1, 2, 3), datetime.date(2021, 1, 1), np.datetime64("2022-01-01")],
    [datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC)],
    [decimal.Decimal("1.5"), decimal.Decimal(2)],
    [np.arange(3), np.arange(3) + 1],
    [{1, 2}],
]


@pytest.mark.parametrize("cells", CELLS, ids=lambda cells: repr(cells)[:40])
def test_columns_are_typed_and_written_as_the_sdk_does(cells: list[Any]) -> None:
    wandb = pytest.importorskip("wandb")
    theirs = wandb.Table(columns=["c"], data=[[cell] for cell in cells])
    artifact = wandb.Artifact("held", "dataset")
    expected = theirs.to_json(artifact)
    found = held(Table(columns=["c"], data=[[cell] for cell in cells]))
    assert found == json.loads(json.dumps(expected))


@pytest.mark.parametrize(
    "cells",
    [[1, "a"], [True, 1], [[1], "a"], [{"a": 1}, {"b": 1}], [[1], ["a"]], [np.zeros(3), np.zeros(4)]],
    ids=repr,
)
def test_cells_of_other_types_are_refused_where_the_sdk_refuses_them(cells: list[Any]) -> None:
    wandb = pytest.importorskip("wandb")
    for table in (wandb.Table(columns=["c"]), Table(columns=["c"])):
        table.add_data(cells[0])
        with pytest.raises(TypeError):
            table.add_data(cells[1])
        assert len(table.data) == 1


@pytest.mark.parametrize("dtype", [int, str, bool, [int, str], [float], {"a": int}, dict, "constant"], ids=repr)
@pytest.mark.parametrize("value", [1, "a", True, None, [1.5], {"a": 1}, "constant"], ids=repr)
def test_given_types_take_what_those_of_the_sdk_take(dtype: Any, value: Any) -> None:
    dtypes = pytest.importorskip("wandb.sdk.data_types._dtypes")
    theirs = dtypes.OptionalType(dtypes.TypeRegistry.type_from_dtype(dtype)).assign(value)
    mine = taking(optional(from_dtype(dtype)), value)
    if isinstance(theirs, dtypes.InvalidType):
        assert mine is None
    else:
        assert mine is not None
        assert mine.to_json() == json.loads(json.dumps(theirs.to_json()))


def test_images_of_a_column_merge_what_lies_over_them() -> None:
    wandb = pytest.importorskip("wandb")
    box = {"position": {"middle": [1, 1], "width": 1, "height": 1}, "class_id": 1, "scores": {"p": 1}}
    overlays: list[dict[str, Any]] = [
        {"masks": {"m": {"mask_data": np.array([[0, 1], [2, 2]], np.uint8)}}},
        {"boxes": {"b": {"box_data": [box], "class_labels": {1: "cat"}}}, "classes": [{"id": 7, "name": "seven"}]},
        {},
        {"boxes": {"b": {"box_data": [{**box, "scores": {"q": 1}}], "class_labels": {2: "dog"}}}},
    ]
    pixels = np.full((2, 2), 9, np.uint8)
    theirs = wandb.Table(columns=["i"], data=[[wandb.Image(pixels, **each)] for each in overlays])
    mine = Table(columns=["i"], data=[[Image(pixels, **each)] for each in overlays])
    expected = json.loads(json.dumps(theirs._column_types.to_json()))
    found = held(mine)["column_types"]
    assert in_order(found) == in_order(expected)


def in_order(value: Any) -> Any:
    """With lists sorted, for those come from sets in the SDK."""
    if isinstance(value, dict):
        return {key: in_order(item) for key, item in value.items()}
    return sorted(map(in_order, value), key=repr) if isinstance(value, list) else value


def test_mixed_types_and_histograms() -> None:
    table = Table(columns=["c"], data=[[1], ["a"], [None]], allow_mixed_types=True)
    assert held(table)["column_types"]["params"]["type_map"]["c"]["params"]["allowed_types"][0] == {"wb_type": "any"}
    table = Table(columns=["c"], data=[[Histogram([1, 2], num_bins=2)]])
    assert held(table)["data"][0][0]["_type"] == "histogram"
    assert type_of(Histogram([1])).name == "pythonObject"


def test_rows_and_columns_have_to_fit() -> None:
    table = Table(columns=["a", "b"], data=[[1, 2]])
    with pytest.raises(ValueError, match="2 columns"):
        table.add_data(1)
    with pytest.raises(ValueError, match="already"):
        table.add_column("a", [1])
    with pytest.raises(ValueError, match="1 rows"):
        table.add_column("c", [1, 2])
    with pytest.raises(TypeError, match="column 'c'"):
        table.add_column("c", [None])
    with pytest.raises(ValueError, match="names"):
        Table(columns=[1.5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="log_mode"):
        Table(log_mode="SOMETIMES")
    assert table.columns == ["a", "b"]
    assert table.data == [[1, 2]]


def test_columns_can_be_read_computed_and_cast() -> None:
    table = Table(columns=["a"], data=[[1], [4]])
    table.add_computed_columns(lambda number, row: {"sum": row["a"] + number})
    assert table.get_column("sum") == [1, 5]
    assert table.get_column("a", convert_to="numpy").tolist() == [1, 4]
    assert [number for number, _ in table.iterrows()] == table.get_index()
    table.cast("a", int)
    with pytest.raises(TypeError, match="column 'a'"):
        table.cast("a", str)
    first = Table(columns=[])
    first.add_column("x", [1, 2])
    assert first.data == [[1], [2]]


def test_a_data_frame_gives_columns_and_rows() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None]})
    table = Table(dataframe=frame)
    assert table.columns == ["a", "b"]
    assert table.get_dataframe().equals(frame)


def test_what_is_no_data_frame_is_refused() -> None:
    with pytest.raises(ValueError, match="data frame"):
        Table(dataframe=[[1]])


def test_a_table_is_recorded_once_unless_it_may_change(tmp_path: Path) -> None:
    script = f"""
import recorder as wandb
run = wandb.init(project="p", settings={QUIET})
for mode in ("IMMUTABLE", "MUTABLE", "INCREMENTAL"):
    table = wandb.Table(columns=["x"], data=[[1]], log_mode=mode)
    run.log({{mode: table}})
    run.log({{mode: table}})
    table.add_data(2)
    run.log({{mode: table}})
run.finish()
"""
    done = run_script(script, tmp_path)
    assert "changed after it was logged" in done.stderr
    log = log_of(tmp_path)
    rows = rows_of(log)
    for at, (mode, files) in enumerate((("IMMUTABLE", 1), ("MUTABLE", 2), ("INCREMENTAL", 2))):
        three = rows[3 * at : 3 * at + 3]
        assert [row[f"{mode}.nrows"] for row in three] == ["1", "1", "2"]
        assert len({row[f"{mode}.path"] for row in three}) == files
        assert len({row[f"{mode}.artifact_path"] for row in three}) == files
    assert len(of_kind(log, "artifact")) == 5


def test_the_table_of_a_row_lies_in_its_artifact_with_its_media(tmp_path: Path) -> None:
    script = f"""
import recorder as wandb, numpy as np
run = wandb.init(project="p", id="r", settings={QUIET})
image = wandb.Image(np.full((2, 2), 9), caption="c")
run.log({{"a/b": wandb.Table(columns=["i", "n"], data=[[image, 1], [None, 2]])}})
run.finish()
"""
    run_script(script, tmp_path)
    log = log_of(tmp_path)
    (artifact,) = of_kind(log, "artifact")
    assert (artifact.name, artifact.type) == ("run-r-ab-lagcGw", "run_table")
    table, picture = artifact.manifest.contents
    assert table.path == "a/b.table.json"
    stored = json.loads(Path(table.local_path).read_text())
    assert stored["data"][0][0]["path"] == picture.path
    assert stored["data"][1] == [None, 2]
    assert Path(picture.local_path).read_bytes().startswith(b"\x89PNG")
    assert {Path(entry.local_path).parent for entry in artifact.manifest.contents} == {log.parent / "artifacts"}
    (row,) = rows_of(log)
    address = json.loads(row["a/b.artifact_path"])
    assert address == f"wandb-client-artifact://{artifact.client_id}/a/b.table.json"
    shown = json.loads((log.parent / "files" / json.loads(row["a/b.path"])).read_text())
    assert shown == {"columns": ["i", "n"], "data": [["Image", 1], [None, 2]]}


TRUTH = [0, 1, 2, 2, 1, 0, 1, 2, 0, 1]
PROBABILITIES: Any = np.random.default_rng(3).dirichlet(np.ones(3), len(TRUTH)).round(2)


def test_curves_are_those_of_the_sdk() -> None:
    pytest.importorskip("sklearn")
    theirs = pytest.importorskip("wandb.plot")
    for mine, other in ((plot.roc_curve, theirs.roc_curve), (plot.pr_curve, theirs.pr_curve)):
        for options in ({}, {"labels": ["a", "b", "c"]}, {"classes_to_plot": [0, 2]}):
            found, expected = mine(TRUTH, PROBABILITIES, **options), other(TRUTH, PROBABILITIES, **options)
            assert found.table.columns == expected.table.columns
            assert np.array(found.table.data).tolist() == np.array(expected.table.data).tolist()


def test_curves_of_a_perfect_guess() -> None:
    sure = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    roc = plot.roc_curve([0, 1, 0, 1], sure, labels=["no", "yes"])
    assert roc.table.data == [[n, f, t] for n in ("no", "yes") for f, t in ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0))]
    precision = plot.pr_curve([0, 1, 0, 1], sure, interp_size=3)
    assert [row[1:] for row in precision.table.data] == [[1.0, 1.0], [1.0, 0.5], [1.0, 0.0]] * 2


def test_charts_refuse_what_does_not_fit() -> None:
    with pytest.raises(Error, match="Table"):
        plot.bar([[1, 2]], "a", "b")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="keys"):
        plot.line_series([0, 1], [[1, 2]], keys=["a", "b"])
    for wrong in (
        {"y_true": [0, 1]},
        {"y_true": [0, 1], "preds": [0]},
        {"y_true": [0, 1], "preds": [0, 1], "probs": [[1, 0]]},
        {"y_true": [0, 1, 2], "preds": [0, 1, 2], "class_names": ["a", "b"]},
    ):
        with pytest.raises(ValueError, match=r".+"):
            plot.confusion_matrix(**wrong)
    with pytest.raises(ValueError, match="samples"):
        plot.roc_curve([0, 1], [[1, 0]])


def test_arrays_of_several_axes_get_a_file_of_their_own() -> None:
    artifact = Artifact("held", "dataset")
    table = Table(columns=["m"], data=[[np.full((2, 3), i)] for i in range(4)])
    entry = artifact.add(table, "table")
    assert entry.local_path is not None
    stored = json.loads(Path(entry.local_path).read_text())
    assert stored["data"] == [[None]] * 4
    (kind,) = [
        each for each in stored["column_types"]["params"]["type_map"]["m"]["params"]["allowed_types"]
        if each["wb_type"] == "ndarray"
    ]  # fmt: skip
    place = kind["params"]["serialization_path"]
    assert place["path"] in artifact.paths
    path = artifact._entries[place["path"]].local_path
    assert path is not None
    assert np.load(path)[place["key"]].shape == (4, 2, 3)
