"""A call that may never come back (a dead network file system, a driver) made with a limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Patience(Generic[T]):
    """
    Makes one call at a time in a thread of its own and waits for it for a while.

    A call that did not come back is not made again while it is under way; its late answer is thrown away.
    """

    def __init__(self, call: Callable[[], T], limit: float) -> None:
        self._call = call
        self._limit = limit
        self._thread: threading.Thread | None = None

    def get(self) -> T:
        """The result, or what the call raises. TimeoutError when it takes longer than the limit."""
        if self._thread is not None and self._thread.is_alive():
            raise TimeoutError("an earlier call has not come back")
        box: list[T] = []
        errors: list[Exception] = []

        def run() -> None:
            try:
                box.append(self._call())
            except Exception as error:  # handed to the caller below
                errors.append(error)

        self._thread = threading.Thread(target=run, name="patience", daemon=True)
        self._thread.start()
        self._thread.join(self._limit)
        if box:
            return box[0]
        if errors:
            raise errors[0]
        raise TimeoutError(f"no answer within {self._limit:g} s")
