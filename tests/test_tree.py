"""Config and summary trees: the SDK's merge rules, and lists that people can read."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.environment import Environment
from leet.model.safe_text import clean
from leet.model.tree import Tree, display
from leet.reading.unparsed import Json

KEYS = st.sampled_from(["a", "b", "c.d", "_x", "_type", "é"])
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-1, 1) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def tree_of(**values: object) -> Tree:
    tree = Tree()
    for key, value in values.items():
        tree.merge((key,), value)
    return tree


def test_config_objects_merge_leaf_by_leaf():
    tree = tree_of(opt={"name": "adam", "betas": [0.9, 0.99], "deep": {"x": 1}})
    tree.merge(("opt",), {"name": "sgd", "deep": {"y": 2}})
    assert tree.to_dict() == {"opt": {"name": "sgd", "betas": [0.9, 0.99], "deep": {"x": 1, "y": 2}}}
    tree.merge(("opt", "deep"), 3)
    tree.merge(("opt", "betas"), {"first": 0.9})
    assert tree.to_dict() == {"opt": {"name": "sgd", "betas": {"first": 0.9}, "deep": 3}}
    tree.merge(("opt",), {})
    assert tree.get("opt", "name") == "sgd"


def test_a_summary_value_is_a_leaf_even_if_it_is_an_object():
    tree = Tree()
    tree.assign(("deep",), Json('{"x": 1, "y": {"z": 2}}'))
    tree.assign(("deep",), Json('{"x": 3}'))
    assert tree.to_dict() == {"deep": {"x": 3}}
    tree.assign(("deep", "a", "b"), Json("1"))
    assert tree.to_dict() == {"deep": {"a": {"b": 1}}}
    tree.assign(("deep", "a", "c"), Json("NaN"))
    assert math.isnan(tree.get("deep", "a", "c"))
    tree.assign(("deep",), Json("[1, 2]"))
    assert tree.to_dict() == {"deep": [1, 2]}


def test_removal_takes_empty_branches_along():
    tree = Tree()
    tree.assign(("a", "b", "c"), 1)
    tree.assign(("a", "d"), 2)
    tree.remove(("a", "b", "c"))
    assert tree.to_dict() == {"a": {"d": 2}}
    tree.remove(("a", "nothing"))
    tree.remove(("a", "d", "below a leaf"))
    assert tree.to_dict() == {"a": {"d": 2}}
    tree.remove(("a",))
    assert not tree
    tree.remove(())


def test_values_inside_leaves_can_be_asked_for():
    tree = Tree()
    tree.assign(("loss",), Json('{"min": 0.5, "last": 1}'))
    assert tree.get("loss", "min") == 0.5
    assert tree.get("loss") == {"min": 0.5, "last": 1}
    assert tree.get("loss", "max") is None
    assert tree.get("loss", "min", "deeper") is None
    assert tree.get("nothing") is None


@given(st.lists(st.tuples(st.booleans(), PATHS, VALUES), max_size=12))
def test_merging_does_what_nested_dicts_would_do(changes):
    """`assign` and `merge` against an independent model: flat leaves under their paths."""
    tree, leaves = Tree(), {}

    def put(path, value):
        for old in [p for p in leaves if p[: len(path)] == path or path[: len(p)] == p]:
            del leaves[old]
        leaves[path] = value

    def merge(path, value):
        below = [p for p in leaves if len(p) > len(path) and p[: len(path)] == path]
        if isinstance(value, dict) and (value or below):
            for key, inner in value.items():
                merge((*path, key), inner)
        else:
            put(path, value)

    for is_merge, path, value in changes:
        if is_merge:
            tree.merge(path, value)
            merge(path, value)
        else:
            tree.assign(path, Json(json.dumps(value)))
            put(path, value)
    expected: dict = {}
    for path, value in leaves.items():
        node = expected
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = value
    assert tree.to_dict() == expected


def test_rows_are_flat_sorted_and_safe():
    tree = tree_of(
        layers=[{"size": 10}, {"size": 2}],
        lr=0.001,
        steps=10_000,
        name="x\x1b[2J",
        betas=[0.9, 0.999],
        l10=1,
        l9=True,
        empty={},
        none=None,
        _wandb={"t": 1},
    )
    assert list(tree.rows()) == [
        ("betas", "[0.9, 0.999]"),
        ("empty", "{}"),
        ("l9", "true"),
        ("l10", "1"),
        ("layers[0].size", "10"),
        ("layers[1].size", "2"),
        ("lr", "0.001"),
        ("name", "x␛[2J"),
        ("none", "null"),
        ("steps", "10000"),
    ]
    assert len(tree) == 10
    assert tree.rows() is tree.rows()
    version = tree.version
    tree.merge(("lr",), 0.1)
    assert ("lr", "0.1") in tree.rows()
    assert tree.version > version


@given(st.lists(st.lists(st.tuples(PATHS, VALUES | st.none()), max_size=6), max_size=4), st.booleans())
def test_many_changes_at_once_are_those_one_by_one(batches, looked_at):
    many, single = Tree(), Tree()
    for batch in batches:
        many.change([(path, Json(json.dumps(value))) for path, value in batch])
        for path, value in batch:
            if value is None:
                single.remove(path)
            else:
                single.assign(path, Json(json.dumps(value)))
        if looked_at:
            assert list(many.rows()) == list(single.rows())
    assert many.to_dict() == single.to_dict()
    assert list(many.rows()) == list(single.rows())


@given(st.lists(st.tuples(st.sampled_from(["assign", "merge", "remove", "look"]), PATHS, VALUES), max_size=15))
def test_rows_that_grew_are_rows_made_at_once(changes):
    """Rows are kept in order while leaves come and go; that must not show."""
    tree = Tree()
    for what, path, value in changes:
        match what:
            case "assign":
                tree.assign(path, Json(json.dumps(value)))
            case "merge":
                tree.merge(path, value)
            case "remove":
                tree.remove(path)
            case "look":
                tree.rows()
    grown = list(tree.rows())
    tree._touch(shape=True)
    assert grown == list(tree.rows())
    assert [key for key, _ in grown] == tree.rows().dotted_keys()
    assert [tree.rows()[i] for i in range(len(grown))] == tree.rows()[:] == grown


def test_rows_outlive_what_they_show():
    tree = tree_of(a=1, b={"c": 2})
    rows = tree.rows()
    tree.remove(("a",))
    tree.assign(("b", "c", "d"), 3)
    assert list(rows) == [("a", ""), ("b.c", "")]
    assert list(tree.rows()) == [("b.c.d", "3")]


def test_the_whole_of_a_row_can_be_had():
    tree = tree_of(layers=[{"size": list(range(300))}], text="line 1\nline 2\x1b", **{"a.b": {"c": 1}})
    assert json.loads(tree.full("layers[0].size")) == list(range(300))
    assert tree.full("text") == "line 1\nline 2␛"
    assert tree.full("a.b.c") == "1"
    assert tree.full("nothing") == ""
    assert tree.full("layers[7]") == ""


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4))
def test_every_row_has_its_whole(values):
    tree = Tree()
    for key, value in values.items():
        tree.merge((key,), value)
    for key, shown in tree.rows():
        assert clean(key) == key
        assert clean(shown) == shown
        assert len(shown) <= 500
        if shown not in ('""', ""):
            assert tree.full(key) != "" or shown == ""


def test_histograms_and_media_are_one_line():
    tree = Tree()
    tree.assign(("h",), Json(json.dumps({"_type": "histogram", "bins": [-1.0, 0.0, 2.5], "values": [3, 4]})))
    tree.assign(("img",), Json('{"_type": "image-file", "path": "media/x.png", "width": 64, "height": 32}'))
    tree.assign(("t",), Json('{"_type": "table-file", "nrows": 3, "ncols": 4, "path": "media/t.json"}'))
    tree.assign(("many",), Json('{"_type": "images/separated", "filenames": ["a", "b"], "width": 8, "height": 8}'))
    assert dict(tree.rows()) == {
        "h": "histogram · 2 bins · -1 … 2.5",
        "img": "image-file · 64×32 · media/x.png",
        "t": "table-file · 3×4 cells · media/t.json",
        "many": "images/separated · 2 files · 8×8",
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.1 + 0.2, "0.3"),
        (1.23456789e-7, "1.23457e-07"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (2**63, "9223372036854775808"),
        (False, "false"),
        ("a\nb", "a␊b"),
        ("", ""),
        ([], "[]"),
        ("x" * 600, "x" * 499 + "…"),
    ],
)
def test_display(value: object, text: str):
    assert display(value) == text


def test_text_that_is_no_json_is_shown_as_it_is():
    tree = Tree()
    tree.assign(("a",), Json("{broken"))
    tree.assign(("b",), Json("[" * 100_000))
    assert dict(tree.rows())["a"] == "{broken"
    assert dict(tree.rows())["b"].startswith("[[[")
    assert len(display(10**5000)) <= 500


def test_no_depth_exhausts_the_stack():
    tree, deep = Tree(), '{"a":' * 300 + "1" + "}" * 300
    tree.assign(("leaf",), Json(deep))
    tree.assign(("list",), Json("[" * 300 + "]" * 300))
    tree.merge(("config",), json.loads(deep))
    path = tuple("k" for _ in range(5000))
    tree.assign(path, Json("1"))
    keys = tree.rows().dotted_keys()
    assert len(keys) == 4
    assert tree.to_dict()["leaf"] == tree.to_dict()["config"] == json.loads(deep)
    assert all(tree.full(key) for key in keys[:3])
    assert tree.get(*path[:63], ".".join(path[63:])) == 1
    tree.remove(path)
    assert "k" not in tree.to_dict()


PARTS_OF_MEDIA = [("_type", '"histogram"'), ("bins", "[0, 1, 2]"), ("values", "[5, 6]")]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_media_value_that_was_taken_apart_is_one_row_too(order: tuple[int, ...]):
    tree = Tree()
    tree.assign(("a",), Json("1"))
    for index in order:
        key, value = PARTS_OF_MEDIA[index]
        tree.assign(("layers", "h", key), Json(value))
        tree.rows()
    assert list(tree.rows()) == [("a", "1"), ("layers.h", "histogram · 2 bins · 0 … 2")]
    assert json.loads(tree.full("layers.h")) == {"_type": "histogram", "bins": [0, 1, 2], "values": [5, 6]}
    tree.assign(("layers", "h", "bins"), Json("[0, 1, 2, 3]"))
    tree.assign(("layers", "h", "deep", "er"), Json("1"))
    assert list(tree.rows()) == [("a", "1"), ("layers.h", "histogram · 3 bins · 0 … 3")]
    tree.remove(("layers", "h", "_type"))
    assert tree.rows().dotted_keys() == ["a", "layers.h.bins", "layers.h.deep.er", "layers.h.values"]


def test_a_type_that_is_no_text_makes_no_media_value():
    tree = Tree()
    tree.assign(("m", "_type"), Json("3"))
    tree.assign(("m", "x"), Json("1"))
    assert tree.rows().dotted_keys() == ["m._type", "m.x"]
    tree.assign(("m", "_type"), Json('"image-file"'))
    assert list(tree.rows()) == [("m", "image-file")]


def test_what_an_environment_says_twice_is_one_row():
    environment = Environment()
    for path, value in ((("cpu_count",), 2), (("cpu", "count"), 2), (("cpu", "model"), "x"), (("code_path",), "a.py")):
        environment.assign(path, value)
    environment.assign(("code_path_local",), "a.py")
    assert environment.rows().dotted_keys() == ["code_path", "cpu.count", "cpu.model"]
    environment.assign(("cpu_count",), 4)
    assert environment.rows().dotted_keys() == ["code_path", "cpu.count", "cpu.model", "cpu_count"]
