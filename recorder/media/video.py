"""Moving pictures: files, and frames through an encoder that is installed."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recorder.errors import Error
from recorder.media.content import Content
from recorder.media.media import Json, Media, captions, file_of
from recorder.media.pixels import as_array, pillow

FORMATS = ("gif", "mp4", "webm", "ogg")
_FRAMES_A_SECOND = 4


class Video(Media):
    """A video of a row.

    Args:
        data_or_path: the path of a file, a file object, or frames [time, channels, height, width] of 0 … 255, or
            several videos of that shape side by side, [batch, time, channels, height, width].
        caption: text below it.
        fps: frames a second, for frames.
        format: `gif`, `mp4`, `webm` or `ogg`; needed for all but paths. Frames become a GIF with Pillow, anything
            else with moviepy.

    Raises:
        ValueError: another format, or frames of another shape.
        OSError: a file that cannot be read.
        Error: the encoder is not installed.
    """

    TYPE = "video-file"
    DIRECTORY = "media/videos"

    def __init__(
        self,
        data_or_path: Any,
        caption: str | None = None,
        fps: int | None = None,
        format: str | None = None,  # noqa: A002  the SDK's name
    ) -> None:
        self.width: int | None = None
        self.height: int | None = None
        if isinstance(data_or_path, str | os.PathLike):
            format = os.path.splitext(data_or_path)[1][1:].lower()  # noqa: A001
        if format not in FORMATS:
            raise ValueError(f"the format of a video is one of {', '.join(FORMATS)}, not {format!r}")
        if isinstance(data_or_path, str | os.PathLike):
            content = file_of(data_or_path)
        elif hasattr(data_or_path, "read"):
            content = Content(data_or_path.read(), extension=f".{format}")
        else:
            frames = _frames(as_array(data_or_path))
            self.height, self.width = frames.shape[1:3]
            encode = _gif if format == "gif" else _moviepy
            content = Content(encode(frames, fps or _FRAMES_A_SECOND, format), extension=f".{format}")
        super().__init__(content, caption)

    @classmethod
    def batch(cls, items: Sequence[Any], objects: Sequence[Json]) -> Json:
        """`videos`: the videos one by one."""
        return {"_type": "videos", "count": len(items), "videos": list(objects), "captions": captions(items)}

    def _extra(self) -> Json:
        return {} if self.width is None else {"width": self.width, "height": self.height}


def _frames(video: Any) -> Any:
    """[time, height, width, channels]; several videos lie in a grid, with black where none is left."""
    if video.ndim == 4:
        video = video[None]
    if video.ndim != 5:
        raise ValueError("frames are [time, channels, height, width], perhaps with a batch before them")
    video = video.astype("uint8")
    batch, time, channels, height, width = video.shape
    rows = 2 ** ((batch.bit_length() - 1) // 2)
    columns = 2 ** (batch - 1).bit_length() // rows
    grid = video[:1].repeat(rows * columns, axis=0) * 0
    grid[:batch] = video
    grid = grid.reshape(rows, columns, time, channels, height, width).transpose(2, 0, 4, 1, 5, 3)
    return grid.reshape(time, rows * height, columns * width, channels)


def _gif(frames: Any, fps: int, _: str) -> bytes:
    module = pillow("a GIF of frames")
    pictures = [module.fromarray(frame[..., 0] if frame.shape[2] == 1 else frame) for frame in frames]
    out = io.BytesIO()
    pictures[0].save(out, "GIF", save_all=True, append_images=pictures[1:], duration=1000 / fps, loop=0)
    return out.getvalue()


def _moviepy(frames: Any, fps: int, suffix: str) -> bytes:
    try:
        from moviepy.video.io.ImageSequenceClip import (  # type: ignore[import-not-found, unused-ignore]
            ImageSequenceClip,
        )
    except ImportError:
        raise Error(
            f"a video of frames as {suffix} needs the package moviepy: pip install moviepy; "
            'format="gif" needs Pillow only, and the path of a finished file nothing'
        ) from None
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, f"video.{suffix}")
        ImageSequenceClip(list(frames), fps=fps).write_videofile(str(path), logger=None)
        return path.read_bytes()
