"""Charts of tables, drawn by the server: `run.log({"roc": plot.roc_curve(…)})`.

A chart is a table in the row, under `<key>_table`, and a description in the config that names one of W&B's chart
presets and says which columns it draws.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recorder import notices
from recorder.errors import Error
from recorder.media.json_file import plain
from recorder.media.table import Table

_TABLES = "Custom Chart Tables"
"""The section in which the tables of charts are shown apart."""


@dataclass(frozen=True)
class CustomChart:
    """A table and how it is drawn.

    Attributes:
        table: what is drawn.
        spec_name: the preset: `wandb/line/v0`.
        fields: the preset's fields, and the columns that they are drawn from.
        string_fields: its texts.
        split_table: whether the table is shown in a section of its own.
    """

    table: Table
    spec_name: str
    fields: Mapping[str, Any]
    string_fields: Mapping[str, Any] = field(default_factory=dict)
    split_table: bool = False

    def table_key(self, key: str) -> str:
        """The key of the table in the row, of a chart that is logged under a key."""
        return f"{_TABLES}/{key}_table" if self.split_table else f"{key}_table"

    def config_path(self, key: str) -> tuple[str, ...]:
        """Where its description goes."""
        return "_wandb", "visualize", key

    def config(self, key: str) -> dict[str, Any]:
        """Its description: the preset, and the query for the table in the summary of a run."""
        table = {"name": "summaryTable", "args": [{"name": "tableKey", "value": self.table_key(key)}], "fields": []}
        names: list[dict[str, Any]] = [{"name": name, "fields": []} for name in ("id", "name", "_defaultColorIndex")]
        runs = {"name": "runSets", "args": [{"name": "runSets", "value": "${runSets}"}], "fields": [*names, table]}
        return {
            "panel_type": "Vega2",
            "panel_config": {
                "panelDefId": self.spec_name,
                "fieldSettings": dict(self.fields),
                "stringSettings": dict(self.string_fields),
                "transform": {"name": "tableWithLeafColNames"},
                "userQuery": {"queryFields": [runs]},
            },
        }


@dataclass(frozen=True)
class Visualize:
    """A table and the old kind of description: a preset by name."""

    table: Table
    name: str

    def table_key(self, key: str) -> str:
        """The key of the table in the row."""
        return key

    def config_path(self, key: str) -> tuple[str, ...]:
        """Where its description goes."""
        return "_wandb", "viz", key

    def config(self, key: str) -> dict[str, Any]:
        """Its description."""
        return {"id": self.name, "historyFieldSettings": {"x-axis": "_step", "key": key}}


def plot_table(
    vega_spec_name: str,
    data_table: Table,
    fields: Mapping[str, Any],
    string_fields: Mapping[str, Any] | None = None,
    split_table: bool = False,
) -> CustomChart:
    """A chart of any preset; see `CustomChart`. Raises Error for something that is no table."""
    if not isinstance(data_table, Table):
        raise Error(f"a chart is drawn from a Table, not from {type(data_table).__qualname__}")
    return CustomChart(data_table, vega_spec_name, fields, string_fields or {}, split_table)


def visualize(id: str, value: Table) -> Visualize:  # noqa: A002  the SDK's name
    """A table with a preset by its name. Raises Error for something that is no table."""
    if not isinstance(value, Table):
        raise Error(f"a chart is drawn from a Table, not from {type(value).__qualname__}")
    return Visualize(value, id)


def line(
    table: Table, x: str, y: str, stroke: str | None = None, title: str = "", split_table: bool = False
) -> CustomChart:
    """Lines: column `y` over column `x`, one line for each value of column `stroke`."""
    return plot_table("wandb/line/v0", table, {"x": x, "y": y, "stroke": stroke}, {"title": title}, split_table)


def scatter(table: Table, x: str, y: str, title: str = "", split_table: bool = False) -> CustomChart:
    """Points: column `y` over column `x`."""
    return plot_table("wandb/scatter/v0", table, {"x": x, "y": y}, {"title": title}, split_table)


def bar(table: Table, label: str, value: str, title: str = "", split_table: bool = False) -> CustomChart:
    """Bars: column `value` for each of column `label`."""
    return plot_table("wandb/bar/v0", table, {"label": label, "value": value}, {"title": title}, split_table)


def histogram(table: Table, value: str, title: str = "", split_table: bool = False) -> CustomChart:
    """How often the values of a column occur."""
    return plot_table("wandb/histogram/v0", table, {"value": value}, {"title": title}, split_table)


def line_series(
    xs: Sequence[Any],
    ys: Sequence[Sequence[Any]],
    keys: Sequence[str] | None = None,
    title: str = "",
    xname: str = "x",
    split_table: bool = False,
) -> CustomChart:
    """Several lines, [lines][points], over one `xs` for all or one for each. Raises ValueError if they do not fit."""
    xs, ys = plain(xs), plain(ys)
    if not isinstance(xs[0], list):
        xs = [xs] * len(ys)
    keys = list(keys) if keys is not None else [f"line_{i}" for i in range(len(ys))]
    if not len(xs) == len(ys) == len(keys):
        raise ValueError(f"{len(xs)} series of x, {len(ys)} of y and {len(keys)} keys do not fit")
    rows = [[x, key, y] for key, own, values in zip(keys, xs, ys, strict=True) for x, y in zip(own, values)]  # noqa: B905
    table = Table(columns=["step", "lineKey", "lineVal"], data=rows)
    fields = {"step": "step", "lineKey": "lineKey", "lineVal": "lineVal"}
    return plot_table("wandb/lineseries/v0", table, fields, {"title": title, "xname": xname}, split_table)


def confusion_matrix(
    probs: Sequence[Sequence[float]] | None = None,
    y_true: Sequence[Any] | None = None,
    preds: Sequence[Any] | None = None,
    class_names: Sequence[str] | None = None,
    title: str = "Confusion Matrix Curve",
    split_table: bool = False,
) -> CustomChart:
    """How often each class was taken for each other.

    Args:
        probs: probabilities [samples][classes]; or
        preds: predicted classes [samples].
        y_true: true classes [samples].
        class_names: names of the classes 0 … n - 1; without them the classes that occur are numbered from 1.
        title: of the chart.
        split_table: see `CustomChart`.

    Raises ValueError for arguments that do not fit together.
    """
    if (probs is None) == (preds is None) or y_true is None:
        raise ValueError("y_true and either probs or preds are needed")
    truth = plain(y_true)
    guesses = plain(preds) if probs is None else [max(range(len(row)), key=row.__getitem__) for row in plain(probs)]
    if len(guesses) != len(truth):
        raise ValueError(f"there are {len(guesses)} predictions for {len(truth)} true classes")
    seen = sorted({*truth, *guesses})
    if class_names is not None:
        if max(len(set(truth)), len(set(guesses))) > len(class_names):
            raise ValueError(f"there are more classes than the {len(class_names)} names")
        classes: list[Any] = list(range(len(class_names)))
        if not set(seen) <= set(classes):
            raise ValueError(f"with class_names the classes are 0 … {len(classes) - 1}")
    else:
        classes, class_names = seen, [f"Class_{i + 1}" for i in range(len(seen))]
    counts = dict.fromkeys(((actual, guess) for actual in classes for guess in classes), 0.0)
    for pair in zip(truth, guesses, strict=True):
        counts[pair] += 1.0
    names = dict(zip(classes, class_names, strict=True))
    rows = [[names[actual], names[guess], count] for (actual, guess), count in counts.items()]
    columns: list[str | int] = ["Actual", "Predicted", "nPredictions"]
    fields = {str(name): name for name in columns}
    table = Table(columns=columns, data=rows)
    return plot_table("wandb/confusion_matrix/v1", table, fields, {"title": title}, split_table)


def roc_curve(
    y_true: Sequence[Any],
    y_probas: Sequence[Sequence[float]],
    labels: Sequence[str] | None = None,
    classes_to_plot: Sequence[Any] | None = None,
    title: str = "ROC Curve",
    split_table: bool = False,
) -> CustomChart:
    """Rate of true positives over that of false ones, for each class against all others.

    Args:
        y_true: true classes [samples].
        y_probas: probabilities [samples][classes], in the sorted order of the classes.
        labels: names of the classes 0, 1, ….
        classes_to_plot: those that are drawn; all without it.
        title: of the chart.
        split_table: see `CustomChart`.
    """
    rows = []
    for label, hits, scores in _one_against_all(y_true, y_probas, labels, classes_to_plot):
        for false, true in _roc(hits, scores):
            rows.append([label, _rounded(false), _rounded(true)])
    fields = {"x": "fpr", "y": "tpr", "class": "class"}
    axes = {"title": title, "x-axis-title": "False positive rate", "y-axis-title": "True positive rate"}
    return _area(["class", "fpr", "tpr"], rows, fields, axes, split_table)


def pr_curve(
    y_true: Sequence[Any],
    y_probas: Sequence[Sequence[float]],
    labels: Sequence[str] | None = None,
    classes_to_plot: Sequence[Any] | None = None,
    interp_size: int = 21,
    title: str = "Precision-Recall Curve",
    split_table: bool = False,
) -> CustomChart:
    """Precision over recall at `interp_size` points of recall, for each class against all others; see `roc_curve`."""
    if interp_size < 2:
        raise ValueError("a curve has at least two points")
    rows, step = [], 1 / (interp_size - 1)
    for label, hits, scores in _one_against_all(y_true, y_probas, labels, classes_to_plot):
        precision, recall = _precision_recall(hits, scores)
        for i in range(interp_size - 1, -1, -1):
            wanted = i * step
            at = min(bisect.bisect_left(recall, wanted), len(recall) - 1)
            rows.append([label, _rounded(precision[at]), _rounded(wanted)])
    fields = {"x": "recall", "y": "precision", "class": "class"}
    axes = {"title": title, "x-axis-title": "Recall", "y-axis-title": "Precision"}
    return _area(["class", "precision", "recall"], rows, fields, axes, split_table)


def _rounded(value: float) -> float:
    """To three decimals, as numpy rounds."""
    return round(value * 1000) / 1000


def _area(
    columns: list[str | int], rows: list[list[Any]], fields: Mapping[str, str], axes: Mapping[str, str], split: bool
) -> CustomChart:
    if len(rows) > Table.MAX_ROWS:
        notices.warn_once(f"a curve has {len(rows)} points: {Table.MAX_ROWS} of them are recorded")
        step = len(rows) / Table.MAX_ROWS
        rows = [rows[int(i * step)] for i in range(Table.MAX_ROWS)]
    return plot_table("wandb/area-under-curve/v0", Table(columns=columns, data=rows), fields, axes, split)


def _one_against_all(
    y_true: Any, y_probas: Any, labels: Sequence[str] | None, wanted: Sequence[Any] | None
) -> Iterable[tuple[Any, list[bool], list[float]]]:
    """For each class that is drawn: its name, whether each sample is of it, and how probable it was said to be."""
    truth, probabilities = plain(y_true), plain(y_probas)
    if len(truth) != len(probabilities):
        raise ValueError(f"there are probabilities of {len(probabilities)} samples for {len(truth)} true classes")
    classes = sorted(set(truth))
    if probabilities and len(probabilities[0]) < len(classes):
        raise ValueError(f"there are {len(classes)} classes, and probabilities of {len(probabilities[0])}")
    shown = set(classes if wanted is None else plain(wanted))
    for i, each in enumerate(classes):
        if each in shown:
            label = labels[each] if labels is not None and isinstance(each, int) else each
            yield label, [value == each for value in truth], [row[i] for row in probabilities]


def _counts(hits: Sequence[bool], scores: Sequence[float]) -> list[tuple[int, int]]:
    """(false, true) positives at every distinct score, from the highest down."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    found: list[tuple[int, int]] = []
    false = true = 0
    for place, i in enumerate(order):
        true += hits[i]
        false += not hits[i]
        if place + 1 == len(order) or scores[order[place + 1]] != scores[i]:
            found.append((false, true))
    return found


def _roc(hits: Sequence[bool], scores: Sequence[float]) -> list[tuple[float, float]]:
    """The corners of the curve, from (0, 0); points in the middle of a straight piece are left out."""
    points = _counts(hits, scores)
    false, true = points[-1] if points else (0, 0)
    corners = [
        point
        for i, point in enumerate(points)
        if i in (0, len(points) - 1)
        or (points[i + 1][0] - point[0], points[i + 1][1] - point[1])
        != (point[0] - points[i - 1][0], point[1] - points[i - 1][1])
    ]
    return [(f / (false or 1), t / (true or 1)) for f, t in [(0, 0), *corners]]


def _precision_recall(hits: Sequence[bool], scores: Sequence[float]) -> tuple[list[float], list[float]]:
    """Precision and recall with rising recall; precision is made to fall only, as the SDK smooths it."""
    points = _counts(hits, scores)
    total = points[-1][1] if points else 0
    precision = [1.0, *(true / (true + false) for false, true in points)]
    recall = [0.0, *(true / total if total else 1.0 for _, true in points)]
    best = 0.0
    for i in range(len(precision) - 1, -1, -1):
        best = precision[i] = max(best, precision[i])
    return precision, recall
