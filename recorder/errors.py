"""What the face raises, under the names that training scripts catch."""

from __future__ import annotations


class Error(Exception):
    """Something that the recorder was asked for cannot be done."""


class UsageError(Error):
    """The recorder was called in a way that cannot be right: a bad setting, a call in the wrong order."""


class ConfigError(Error):
    """A value of the config would change without `allow_val_change=True`."""
