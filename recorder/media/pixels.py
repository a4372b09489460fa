"""Arrays and tensors of any library → uint8 pixels, without importing one.

What is needed are the methods that numpy's arrays have. Tensors of torch and tensorflow give such an array themselves.
"""

from __future__ import annotations

import sys
from typing import Any

from recorder import notices
from recorder.errors import Error

_CHANNELS = (3, 4)


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of torch: channels come first in those."""
    return hasattr(value, "detach") and hasattr(value, "cpu")


def as_array(value: Any) -> Any:
    """The numpy array of an array or tensor.

    Raises ValueError for something that is none.
    """
    if is_tensor(value):
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype):
            value = value.float()  # numpy has no such type
        return value.numpy()
    if hasattr(value, "numpy") and not hasattr(value, "tobytes"):  # tensorflow
        return value.numpy()
    numpy = sys.modules.get("numpy")
    if numpy is not None and not isinstance(value, numpy.ndarray) and hasattr(value, "__array__"):
        return numpy.asarray(value)  # jax and others
    if not all(hasattr(value, name) for name in ("astype", "shape", "tobytes")):
        raise ValueError(f"an array, a tensor, a picture or a path is needed, not {type(value).__qualname__}")
    return value


def pixels_of(value: Any) -> Any:
    """The pixels of an image: uint8, [height, width] or [height, width, 3 or 4].

    Arrays have the channels last, tensors of torch first. As in the SDK, numbers are taken as 0 … 255 whatever their
    type is, and axes of length 1 are left out.

    Raises ValueError for a shape that is no image.
    """
    first = is_tensor(value)
    array = as_array(value)
    if first and array.ndim == 3:
        array = array.transpose(1, 2, 0)
    if array.ndim > 2:
        array = array.squeeze()
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(f"an array of shape {list(value.shape)} is no image")
    if array.ndim == 1:
        array = array.reshape(array.shape[0] if first else 1, -1)
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in _CHANNELS):
        raise ValueError(f"an array of shape {list(value.shape)} is no image: [height, width(, 3 or 4)] is needed")
    if array.dtype.kind == "f" and 0 < array.max() <= 1:
        notices.warn_once(
            "an image of floats has nothing above 1, and colours are 0 … 255: it will look black", "dark image"
        )
    return array.astype("uint8")


def pillow(purpose: str) -> Any:
    """The module `PIL.Image`. Raises Error that says what it was needed for."""
    try:
        from PIL import Image  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise Error(f"{purpose} needs the package Pillow: pip install pillow") from None
    return Image
