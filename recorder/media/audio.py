"""Sound: arrays become WAV files with the standard library."""

from __future__ import annotations

import array
import io
import os
import sys
import wave
from collections.abc import Sequence
from typing import Any

from recorder.media.content import Content
from recorder.media.media import Json, Media, file_of
from recorder.media.pixels import as_array

_FULL = 32767


class Audio(Media):
    """Sound of a row.

    Args:
        data_or_path: the path of a file, or samples [n] or [n, channels]: floats in -1 … 1, or integers of 8 (from 0),
            16 or 32 bits. They are written as WAV of 16 bits.
        sample_rate: samples a second; needed for samples.
        caption: text below it.

    Raises ValueError for samples of another kind or without a rate, OSError for a file that cannot be read.
    """

    TYPE = "audio-file"
    DIRECTORY = "media/audio"

    def __init__(self, data_or_path: Any, sample_rate: int | None = None, caption: str | None = None) -> None:
        self.sample_rate = sample_rate
        self.duration: float | None = None
        if isinstance(data_or_path, str | os.PathLike):
            super().__init__(file_of(data_or_path), caption)
            return
        if sample_rate is None:
            raise ValueError("samples need their sample_rate")
        self.duration = len(data_or_path) / float(sample_rate)
        super().__init__(Content(_wav(data_or_path, int(sample_rate)), extension=".wav"), caption)

    @classmethod
    def batch(cls, items: Sequence[Audio], objects: Sequence[Json]) -> Json:
        """`audio`: the sounds one by one, with their rates and durations in seconds."""
        found: Json = {
            "_type": "audio",
            "count": len(items),
            "audio": list(objects),
            "sampleRates": [item.sample_rate for item in items],
            "durations": [item.duration for item in items],
        }
        if any(item.caption is not None for item in items):
            found["captions"] = [item.caption or "" for item in items]
        return found


def _wav(samples: Any, rate: int) -> bytes:
    channels, data = _pcm(samples)
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(data)
    return out.getvalue()


def _pcm(samples: Any) -> tuple[int, bytes]:
    """Channels, and the samples as little-endian integers of 16 bits."""
    if isinstance(samples, list | tuple):
        return _pcm_of_list(samples)
    found = as_array(samples)
    if found.ndim not in (1, 2):
        raise ValueError(f"samples are [n] or [n, channels], not of shape {list(found.shape)}")
    kind, size = found.dtype.kind, found.dtype.itemsize
    if kind == "f":
        found = (found.clip(-1, 1) * _FULL).round()
    elif (kind, size) == ("u", 1):
        found = (found.astype("int16") - 128) * 256
    elif (kind, size) == ("i", 4):
        found = found >> 16
    elif (kind, size) != ("i", 2):
        raise ValueError(f"samples are floats or integers of 8, 16 or 32 bits, not {found.dtype}")
    return found.shape[1] if found.ndim == 2 else 1, found.astype("<i2").tobytes()


def _pcm_of_list(samples: Sequence[Any]) -> tuple[int, bytes]:
    channels = 1
    if samples and isinstance(samples[0], list | tuple):
        channels = len(samples[0])
        if any(len(frame) != channels for frame in samples):
            raise ValueError("every frame has a sample for each channel")
        samples = [sample for frame in samples for sample in frame]
    data = array.array("h", [round(min(1.0, max(-1.0, float(sample))) * _FULL) for sample in samples])
    if sys.byteorder == "big":
        data.byteswap()
    return channels, data.tobytes()
