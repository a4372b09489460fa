"""Reads runs: the viewer, and everything that looks at a transaction log without a screen."""

__version__ = "0.1.0"
"""Kept here as a constant: asking `importlib.metadata` costs 36 ms. A test compares it with pyproject.toml."""
