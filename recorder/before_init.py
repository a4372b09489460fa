"""What stands for the config and the summary while no run is active: there, as libraries look for, but of no use."""

from __future__ import annotations

from typing import Any, NoReturn

from recorder.errors import Error


class NoAttributeError(Error, AttributeError):
    """An attribute of something that only a run has."""


class NoItemError(Error, KeyError):
    """An item of something that only a run has."""

    __str__ = Exception.__str__  # a KeyError shows the repr of its message


class BeforeInit:
    """Takes the place of `config` or `summary`; every use raises an `Error` that says what to do."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def _refuse(self, use: str, kind: type[Error] = Error) -> NoReturn:
        raise kind(f"You must call init() before {self._name}{use}")

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):  # asked for by copy, pickle, inspect and their like
            raise AttributeError(key)
        self._refuse(f".{key}", NoAttributeError)

    def __setattr__(self, key: str, value: object) -> None:
        self._refuse(f".{key}", NoAttributeError)

    def __getitem__(self, key: str) -> Any:
        self._refuse(f"[{key!r}]", NoItemError)

    def __setitem__(self, key: str, value: object) -> None:
        self._refuse(f"[{key!r}]", NoItemError)

    def __iter__(self) -> NoReturn:
        self._refuse(" is read")

    def __len__(self) -> int:
        self._refuse(" is read")

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: object) -> bool:
        self._refuse(" is read")

    def __repr__(self) -> str:
        return f"<{self._name}: init() was not called>"
