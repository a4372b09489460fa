"""Widgets that are as large as they are laid out to be, and lay out nothing anew for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    # Textual looks for the style of a widget at the first of its bases that is one.
    _Base = object


class Unscrolled(_Base):
    """Textual has all of the screen laid out and painted once more after a widget got another size.

    What scrolls may need it, for its scroll bars; nothing of ours does, and it would double the time after which a
    key that moves panes is answered.
    """

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)


class Sentence(Unscrolled, Static):
    """A text that stands alone."""


class Beside(Unscrolled, Horizontal):
    """Widgets beside each other."""


class Stacked(Unscrolled, Vertical):
    """Widgets over each other."""
