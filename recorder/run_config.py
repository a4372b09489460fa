"""The config of a run: hyperparameters and whatever else a script was called with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from recorder import values
from recorder.errors import ConfigError, UsageError
from recorder.notices import warn

Publish = Callable[[dict[str, Any]], None]
"""Writes changed values by their top-level key."""


class Config(Mapping[str, Any]):
    """`run.config`: read and set items or attributes.

    A value that is there already changes with `update(…, allow_val_change=True)` only, so that two parts of a program
    do not silently disagree. Every change is recorded with the whole value of its top-level key.
    """

    def __init__(self, publish: Publish, *, allow_val_change: bool = False) -> None:
        object.__setattr__(self, "_items", {})
        object.__setattr__(self, "_publish", publish)
        object.__setattr__(self, "_allow", allow_val_change)

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __getattr__(self, key: str) -> Any:
        try:
            return self._items[key]
        except KeyError:
            raise AttributeError(f"the config has no value {key!r}") from None

    def __setitem__(self, key: str, value: Any) -> None:
        self._take({key: value}, self._allow)

    __setattr__ = __setitem__

    def __iter__(self) -> Iterator[str]:
        return iter([key for key in self._items if not key.startswith("_")])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __repr__(self) -> str:
        return repr(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """A copy of the values, without the internal ones."""
        return {key: self._items[key] for key in self}

    def update(self, new: Any, allow_val_change: bool | None = None) -> None:
        """Sets several values: from a mapping, an argparse namespace, absl flags or the path of a YAML file.

        Raises ConfigError where a value would change without `allow_val_change=True`; nothing is set then.
        """
        self._take(as_mapping(new), self._allow if allow_val_change is None else allow_val_change)

    def setdefaults(self, new: Any) -> None:
        """Sets the values whose keys are not there yet."""
        self._take({key: value for key, value in as_mapping(new).items() if key not in self._items}, False)

    def persist(self) -> None:
        """Records all values again, with what was changed inside of them."""
        self._publish({key: values.config_value(self._items[key]) for key in self})

    def _take(self, new: Mapping[str, Any], allow: bool) -> None:
        plain = {values.text(key).strip("-"): values.config_value(value) for key, value in new.items()}
        if not allow:
            for key, value in plain.items():
                if key in self._items and self._items[key] != value:
                    raise ConfigError(
                        f"Attempted to change value of key {key!r} from {values.text(self._items[key])} "
                        f"to {values.text(value)}\n"
                        "If you really want to do this, pass allow_val_change=True to config.update()"
                    )
        self._items.update(plain)
        self._publish(plain)


def as_mapping(given: Any) -> Mapping[str, Any]:
    """What `init(config=…)` and `config.update` take, as a mapping.

    Raises UsageError for a file that cannot be read, TypeError for an object that holds no values.
    """
    if given is None:
        return {}
    if isinstance(given, str):
        return _from_yaml(given)
    if isinstance(given, Mapping):
        return given
    flags = getattr(given, "FLAGS", given)
    if hasattr(flags, "flag_values_dict"):  # absl
        found: Mapping[str, Any] = flags.flag_values_dict()
        return found
    if not hasattr(given, "__dict__"):
        raise TypeError("config must be a dict or have a __dict__ attribute.")
    attributes: Mapping[str, Any] = vars(given)
    return attributes


def _from_yaml(path: str) -> dict[str, Any]:
    """A config file of the SDK: `{key: {value: …}}`; plain `{key: …}` is taken as well."""
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise UsageError(f"config={path!r} needs the package PyYAML: pip install pyyaml") from None
    try:
        with open(path, encoding="utf-8") as file:
            loaded = yaml.safe_load(file)
    except OSError as error:
        raise UsageError(f"config file {path} cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise UsageError(f"config file {path} is no valid YAML: {error}") from None
    if not loaded:
        warn(f"the config file {path} is empty")
        return {}
    loaded.pop("wandb_version", None)
    return {
        str(key): entry["value"] if isinstance(entry, dict) and "value" in entry else entry
        for key, entry in loaded.items()
    }
