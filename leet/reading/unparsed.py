"""Values of a log that nobody has looked at yet."""

from __future__ import annotations


class Json(str):
    """JSON text that has not been parsed yet: a leaf of a summary, which is parsed only when somebody looks."""

    __slots__ = ()
