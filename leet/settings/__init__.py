"""What a person has set: `settings()` for what holds everywhere, `ViewState` for what one directory remembers."""

from leet.settings.store import Settings, settings
from leet.settings.table import Grid
from leet.settings.view_state import ViewState

__all__ = ["Grid", "Settings", "ViewState", "settings"]
