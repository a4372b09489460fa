"""The types of a table's columns, as the SDK infers them from the cells and writes them beside the data.

A type takes a value and becomes the type that holds it too: `unknown` takes anything and becomes its type, a union
lets one of its members take it. The form in JSON is `{"wb_type": name, "params": {…}}`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recorder.media.media import Json, Media


class Type:
    """One type: its name and its parameters. Equal if both are."""

    __slots__ = ("name", "params")

    def __init__(self, name: str, **params: Any) -> None:
        self.name = name
        self.params = params

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and self.name == other.name and self.params == other.params

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        """The spelling by which the SDK sorts the members of a union, and which errors show."""
        if self.name == "union":
            return " or ".join(map(str, self.params["members"]))
        if self.name == "list":
            return f"{self.params['element']}[]"
        if self.name == "typedDict":
            return str({key: str(kind) for key, kind in self.params["fields"].items()})
        if self.name == "const":
            return str(self.params["val"])
        shown = ", ".join(f"{name}:{value}" for name, value in self.params.items())
        return self.name.capitalize() + (f"({shown})" if shown else "")

    def to_json(self) -> Json:
        """The object that stands for it in a table."""
        params = _PARAMS.get(self.name, dict)(self.params)
        return {"wb_type": self.name, "params": params} if params else {"wb_type": self.name}


UNKNOWN = Type("unknown")
ANY = Type("any")
NONE = Type("none")
STRING = Type("string")
NUMBER = Type("number")
BOOLEAN = Type("boolean")
TIMESTAMP = Type("timestamp")


def union(members: Iterable[Type]) -> Type:
    """Any of the members."""
    flat = [inner for member in members for inner in _members(member)]
    return Type("union", members=sorted(flat, key=str))


def optional(kind: Type) -> Type:
    """That type, or nothing."""
    return union([kind, NONE])


def type_of(value: Any) -> Type:
    """The type of one value."""
    kind = type(value)
    if value is None or (kind is float and math.isnan(value)):
        return NONE
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(value, Media):
        return _media_type(value)
    if kind in (list, tuple, set, frozenset):
        return _list_type(value)
    if kind is dict:
        return Type("typedDict", fields={key: type_of(item) for key, item in value.items()})
    if is_array(value):
        return Type("ndarray", shape=list(value.shape))
    if hasattr(kind, "dtype") and hasattr(kind, "item"):  # a scalar of numpy's
        return _SCALARS.get(value.dtype.kind) or Type("pythonObject", class_name=kind.__name__)
    return Type("pythonObject", class_name=kind.__name__)


def is_array(value: Any) -> bool:
    """Whether it is an array of numpy's."""
    return type(value).__name__ == "ndarray" and type(value).__module__.partition(".")[0] == "numpy"


def from_dtype(dtype: Any) -> Type:
    """The type that `dtype=` of a table names: a class, a list of one (a list of those) or more (any of those), a dict.

    Everything else is a constant.
    """
    if isinstance(dtype, Type):
        return dtype
    if isinstance(dtype, type):
        if issubclass(dtype, Media):
            return _image_type({}) if dtype.TYPE == "image-file" else Type(dtype.TYPE)
        return _SIMPLE.get(dtype) or _GROWING.get(dtype) or Type("pythonObject", class_name=dtype.__name__)
    if isinstance(dtype, list):
        members = [from_dtype(each) for each in dtype]
        return union(members) if len(members) > 1 else Type("list", element=members[0] if members else UNKNOWN)
    if isinstance(dtype, dict):
        return Type("typedDict", fields={key: from_dtype(each) for key, each in dtype.items()})
    return Type("const", val=dtype, is_set=False)


def taking(kind: Type, value: Any) -> Type | None:
    """What a type becomes when it takes a value; None where it cannot."""
    simple = _SIMPLE.get(type(value))
    if simple is not None and value == value and simple in _members(kind):
        return kind  # nearly every cell
    if kind.name == "union":
        return _union_taking(kind, lambda member: taking(member, value))
    if kind.name == "list" and hasattr(value, "__iter__") and not isinstance(value, str | dict):
        items = list(value)
        element: Type | None = kind.params["element"]
        for item in items:
            element = taking(element, item) if element is not None else None
        return Type("list", element=element, length=len(items)) if element is not None else None
    if kind.name == "typedDict" and isinstance(value, dict):
        return _fields_taking(kind, value, taking)
    if kind.name == "const":
        same = value in kind.params["val"] if kind.params["is_set"] else value == kind.params["val"]
        return kind if same else None
    return merged(kind, type_of(value))


def merged(kind: Type, other: Type) -> Type | None:
    """What a type becomes when it takes values of another type; None where it cannot."""
    if kind.name == "union":
        found: Type | None = kind
        for member in _members(other):
            found = _union_taking(found, _merging(member)) if found is not None else None
        return found
    if kind.name in ("unknown", "any"):
        return None if other.name == "none" else other if kind.name == "unknown" else kind
    if kind.name != other.name:
        return kind if (kind.name, other.name) == ("ndarray", "list") else None
    if kind.name == "list":
        element = merged(kind.params["element"], other.params["element"])
        length = kind.params.get("length")
        same = length if length == other.params.get("length") else None
        return Type("list", element=element, length=same) if element is not None else None
    if kind.name == "typedDict":
        return _fields_taking(kind, other.params["fields"], merged)
    if kind.name == "image-file":
        return _merged_images(kind, other)
    return kind if kind == other else None


def _merging(other: Type) -> Callable[[Type], Type | None]:
    return lambda kind: merged(kind, other)


def _members(kind: Type) -> list[Type]:
    members: list[Type] = kind.params["members"] if kind.name == "union" else [kind]
    return members


def _union_taking(kind: Type, take: Callable[[Type], Type | None]) -> Type | None:
    """The first known member that can takes it; else one that is unknown."""
    members = list(kind.params["members"])
    for wanted in (False, True):
        for i, member in enumerate(members):
            if (member.name == "unknown") is wanted:
                found = take(member)
                if found is not None:
                    members[i] = found
                    return kind if found is member else union(members)
    return None


def _fields_taking(kind: Type, new: Mapping[Any, Any], take: Callable[[Type, Any], Type | None]) -> Type | None:
    """A typed dict that takes another: no keys but its own. A missing one is None, or of unknown type."""
    fields: dict[Any, Type] = kind.params["fields"]
    if not new.keys() <= fields.keys():
        return None
    absent = UNKNOWN if take is merged else None
    found = {key: take(field, new.get(key, absent)) for key, field in fields.items()}
    return None if None in found.values() else Type("typedDict", fields=found)


def _list_type(value: Iterable[Any]) -> Type:
    items = list(value)
    element: Type = optional(UNKNOWN) if any(item is None for item in items) else UNKNOWN
    for item in items:
        found = taking(element, item)
        if found is None:
            return Type("list", element=Type("invalid"), length=len(items))
        element = found
    return Type("list", element=element, length=len(items))


def _media_type(value: Media) -> Type:
    if value.TYPE == "image-file":
        return _image_type(value)
    known = value.TYPE not in ("molecule-file", "plotly-file", "mask", "boxes2D")
    return Type(value.TYPE) if known else Type("pythonObject", class_name=type(value).__name__)


def _image_type(image: Any) -> Type:
    """What the boxes, masks and classes of an image say about a column of images."""
    boxes, masks = getattr(image, "boxes", {}), getattr(image, "masks", {})
    classes = getattr(image, "classes", None)
    scores = {score for each in boxes.values() for box in each.boxes for score in box.get("scores", {})}
    return Type(
        "image-file",
        box_layers={str(key): sorted(each.labels) for key, each in boxes.items()},
        box_score_keys=sorted(scores),
        box_class_maps={str(key): _named(each.labels) for key, each in boxes.items()},
        mask_layers={str(key): sorted(each.labels) for key, each in masks.items()},
        mask_class_maps={str(key): _named(each.labels) for key, each in masks.items() if each.labels},
        class_map=_named(classes.names) if classes is not None else {},
    )


def _named(labels: Mapping[Any, str]) -> dict[str, str]:
    return {str(number): name for number, name in labels.items()}


def _merged_images(kind: Type, other: Type) -> Type:
    """The layers, scores and classes of both."""
    found: dict[str, Any] = {}
    for name, own in kind.params.items():
        new = other.params[name]
        if name == "box_score_keys":
            found[name] = sorted({*own, *new})
        elif name == "class_map":
            found[name] = {**new, **own}
        elif name.endswith("layers"):
            found[name] = {key: sorted({*own.get(key, ()), *new.get(key, ())}) for key in {**own, **new}}
        else:
            found[name] = {key: {**new.get(key, {}), **own.get(key, {})} for key in {**own, **new}}
    return Type("image-file", **found)


def _image_params(params: Mapping[str, Any]) -> Json:
    return {
        name: {"wb_type": "const", "params": {"val": value, "is_set": isinstance(value, list)}}
        for name, value in params.items()
    }


_PARAMS: dict[str, Callable[[Any], Json]] = {
    "union": lambda params: {"allowed_types": [member.to_json() for member in params["members"]]},
    "list": lambda params: {"element_type": params["element"].to_json(), "length": params.get("length")},
    "typedDict": lambda params: {"type_map": {str(key): kind.to_json() for key, kind in params["fields"].items()}},
    "ndarray": lambda params: {"shape": params["shape"], "serialization_path": params.get("serialization_path")},
    "image-file": _image_params,
}
"""How the parameters of a type are written, where they are not plain."""

_SIMPLE: dict[type, Type] = {
    str: STRING,
    int: NUMBER,
    float: NUMBER,
    bool: BOOLEAN,
    type(None): NONE,
    datetime.datetime: TIMESTAMP,
    datetime.date: TIMESTAMP,
}
_GROWING: dict[type, Type] = {
    **dict.fromkeys((list, tuple, set, frozenset), Type("list", element=UNKNOWN)),
    dict: Type("typedDict", fields={}),
}
_SCALARS = {**dict.fromkeys("iufc", NUMBER), "b": BOOLEAN, "M": TIMESTAMP}
"""Kind of a numpy scalar → type."""
