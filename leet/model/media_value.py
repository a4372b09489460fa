"""One logged value, or one piece of a list, as something to show: which file, which caption, what lies over it.

    {"_type": "images/separated", "filenames": ["a.png", "b.png"], "captions": ["one", "two"]}
                                              ─► piece 1 ─►  Medium("image", "b.png", caption="two")

The forms are those that the SDK writes (wandb-format §3.5). Whatever a value lacks, or has of another type, is taken
for not there: nothing here raises for what a log holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["image", "table", "histogram", "file"]
"""What is drawn as a picture, as a table, as a heat map over all steps, or listed with what is known of the file."""

NAMES = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "html": "HTML",
    "object3D": "3-D object",
    "molecule": "molecule",
    "plotly": "Plotly figure",
    "bokeh": "Bokeh figure",
    "table": "table",
    "partitioned-table": "partitioned table",
    "joined-table": "joined table",
    "histogram": "histogram",
}
"""What a person calls the types, which mostly end in `-file`."""

_PIECES = {"audio": "audio", "videos": "videos", "html": "html", "object3D": "objects", "molecule": "filenames"}
"""Where a list keeps its pieces, by its type."""
_SINGLE = {"audio": "audio-file", "videos": "video-file", "html": "html-file", "object3D": "object3D-file",
           "molecule": "molecule-file"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layer:
    """Masks or boxes that lie over an image, in a file of their own."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Medium:
    """What a tile shows. Texts are as logged: `safe_text.clean` them before they are printed."""

    kind: Kind
    type: str
    """What a person calls it."""
    path: str = ""
    """Relative to `files/`; empty where the value is no file."""
    caption: str = ""
    size: int | None = None
    """Bytes, as logged."""
    width: int | None = None
    height: int | None = None
    duration: float | None = None
    """Seconds, as logged."""
    columns: int | None = None
    rows: int | None = None
    masks: tuple[Layer, ...] = ()
    boxes: tuple[Layer, ...] = ()
    format: str = ""


def medium_of(value: Mapping[str, Any], piece: int | None = None) -> Medium | None:
    """What a value is; one piece of it for a list. None where the list has no such piece."""
    logged = _text(value.get("_type"))
    if piece is not None and logged in _PIECES:
        found = _piece(value, logged, piece)
        return None if found is None else medium_of(found)
    if logged == "images/separated":
        return _image_of_list(value, piece or 0)
    name = logged.removesuffix("-file")
    kind: Kind = "file"
    if name == "image":
        kind = "image"
    elif name == "histogram":
        kind = "histogram"
    elif name in ("table", "incremental-table"):
        kind = "table"
    return Medium(
        kind,
        NAMES.get(name, name or "value"),
        _text(value.get("path")),
        _text(value.get("caption")),
        _whole(value.get("size")),
        _whole(value.get("width")),
        _whole(value.get("height")),
        _number(value.get("duration")),
        _whole(value.get("ncols")),
        _whole(value.get("nrows")),
        _layers(value.get("masks")),
        _layers(value.get("boxes")),
        _text(value.get("format")),
    )


def histogram_of(value: Mapping[str, Any]) -> tuple[list[float], list[float]] | None:
    """Counts [n] and edges [n + 1] of a histogram; None where it has none that fit."""
    counts = _numbers(value.get("values"))
    edges = _numbers(value.get("bins"))
    packed = value.get("packedBins")
    if edges is None and isinstance(packed, Mapping):
        low, size = _number(packed.get("min")), _number(packed.get("size"))
        many = _whole(packed.get("count"))
        if low is not None and size is not None and many is not None and 0 < many < 1_000_000:
            edges = [low + size * i for i in range(many + 1)]
    if counts is None or edges is None or not counts or len(edges) != len(counts) + 1:
        return None
    return counts, edges


def _piece(value: Mapping[str, Any], logged: str, piece: int) -> dict[str, Any] | None:
    items = value.get(_PIECES[logged])
    if not isinstance(items, list) and logged == "object3D":
        items = value.get("filenames")
    if not isinstance(items, list) or not 0 <= piece < len(items):
        return None
    item = items[piece]
    found = dict(item) if isinstance(item, Mapping) else {"path": item}
    if logged == "object3D" and isinstance(item, str):
        found["path"] = f"media/object3D/{item}"
    found.setdefault("_type", _SINGLE[logged])
    for name, names in (("caption", "captions"), ("duration", "durations")):
        if found.get(name) is None:
            found[name] = _at(value.get(names), piece)
    return found


def _image_of_list(value: Mapping[str, Any], piece: int) -> Medium | None:
    path = _at(value.get("filenames"), piece)
    if not isinstance(path, str):
        return None
    single = {
        "_type": "image-file",
        "path": path,
        "caption": _at(value.get("captions"), piece),
        "format": value.get("format"),
        "masks": _at(value.get("all_masks"), piece),
        "boxes": _at(value.get("all_boxes"), piece),
    }
    return medium_of(single)


def _at(values: Any, index: int) -> Any:
    return values[index] if isinstance(values, list) and 0 <= index < len(values) else None


def _layers(found: Any) -> tuple[Layer, ...]:
    if not isinstance(found, Mapping):
        return ()
    return tuple(
        Layer(str(name), layer["path"])
        for name, layer in found.items()
        if isinstance(layer, Mapping) and isinstance(layer.get("path"), str)
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value == value and abs(value) < 2**62 else None


def _numbers(values: Any) -> list[float] | None:
    if not isinstance(values, list):
        return None
    found = [_number(value) for value in values]
    return None if None in found else [value for value in found if value is not None]
