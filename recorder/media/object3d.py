"""Three-dimensional objects and clouds of points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from recorder.media.json_file import json_content, plain
from recorder.media.media import Json, Media
from recorder.media.molecule import file_or_stream

FORMATS = ("obj", "gltf", "glb", "babylon", "stl", "pts.json")
_SCENE = "lidar/beta"
_COLUMNS = (3, 4, 6)


class Object3D(Media):
    """An object or a cloud of points of a row.

    Args:
        data_or_path: the path of a file, a file object, points [n, 3] (x, y, z), [n, 4] (and a category 1 … 14) or
            [n, 6] (and r, g, b), or a scene `{"type": "lidar/beta", "points": …, "boxes": …, "vectors": …}`.
        caption: text below it.
        file_type: the format of a file object that has no name.

    Raises ValueError for data of another form, OSError for a file that cannot be read.
    """

    TYPE = "object3D-file"
    DIRECTORY = "media/object3D"

    def __init__(self, data_or_path: Any, caption: str | None = None, file_type: str | None = None) -> None:
        if isinstance(data_or_path, Mapping):
            if data_or_path.get("type") != _SCENE:
                raise ValueError(f'a scene has the type "{_SCENE}"')
            scene = {name: plain(data_or_path.get(name, [])) for name in ("vectors", "points", "boxes")}
            content = json_content({"type": _SCENE, **scene}, ".pts.json")
        elif hasattr(data_or_path, "shape") and hasattr(data_or_path, "tolist"):
            if len(data_or_path.shape) != 2 or data_or_path.shape[1] not in _COLUMNS:
                raise ValueError(f"points are [n, 3], [n, 4] or [n, 6], not of shape {list(data_or_path.shape)}")
            content = json_content(data_or_path, ".pts.json")
        else:
            content = file_or_stream(data_or_path, file_type, FORMATS)
        super().__init__(content, caption)

    @classmethod
    def from_file(cls, data_or_path: Any, file_type: str | None = None) -> Object3D:
        """From a path or a file object."""
        return cls(data_or_path, file_type=file_type)

    @classmethod
    def from_numpy(cls, data: Any) -> Object3D:
        """From an array of points."""
        return cls(data)

    @classmethod
    def from_point_cloud(
        cls,
        points: Sequence[Any],
        boxes: Sequence[Any],
        vectors: Sequence[Any] | None = None,
        point_cloud_type: str = _SCENE,
    ) -> Object3D:
        """From points, boxes (see `box3d`) and vectors."""
        return cls({"type": point_cloud_type, "points": points, "boxes": boxes, "vectors": vectors or []})

    @classmethod
    def batch(cls, items: Sequence[Any], objects: Sequence[Json]) -> Json:
        """`object3D`: the objects one by one."""
        names = [found["path"].removeprefix(f"{cls.DIRECTORY}/") for found in objects]
        return {"_type": "object3D", "filenames": names, "count": len(names), "objects": list(objects)}


def box3d(
    *,
    center: Sequence[float],
    size: Sequence[float],
    orientation: Sequence[float],
    color: Sequence[int],
    label: str | None = None,
    score: float | None = None,
) -> Json:
    """A box in a cloud of points.

    Args:
        center: x, y, z.
        size: extent along its own axes.
        orientation: the quaternion r, i, j, k that turns it.
        color: r, g, b.
        label: text at the box.
        score: how sure it is.

    Raises ValueError for a quaternion of nothing but zeros.
    """
    rotation = _rotation([float(part) for part in orientation])
    corners = []
    for signs in itertools.product((-1.0, 1.0), repeat=3):
        corner = [0.5 * float(extent) * sign for extent, sign in zip(size, signs, strict=True)]
        turned = [sum(corner[row] * rotation[row][column] for row in range(3)) for column in range(3)]
        corners.append([float(origin) + part for origin, part in zip(center, turned, strict=True)])
    return {"corners": corners, "color": plain(color), "label": label, "score": score}


def _rotation(quaternion: Sequence[float]) -> list[list[float]]:
    """The matrix that turns row vectors from the left: `x @ R`."""
    length = math.hypot(*quaternion)
    if not length:
        raise ValueError("an orientation is a quaternion other than 0")
    r, i, j, k = (part / length for part in quaternion)
    return [
        [1 - 2 * (j * j + k * k), 2 * (i * j + k * r), 2 * (i * k - j * r)],
        [2 * (i * j - k * r), 1 - 2 * (i * i + k * k), 2 * (j * k + i * r)],
        [2 * (i * k + j * r), 2 * (j * k - i * r), 1 - 2 * (i * i + j * j)],
    ]
