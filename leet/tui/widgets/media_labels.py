"""Names of classes in masks and boxes, as the SDK keeps them: in the config, under `_wandb`.

_wandb["mask/class_labels"]["sample_wandb_delimeter_prediction"]["value"] = {"1": "cat"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leet.model.media_content import Labels
from leet.model.tree import Tree

_TABLES = {"masks": "mask/class_labels", "boxes": "bounding_box/class_labels"}
_DELIMITER = "_wandb_delimeter_"


def labels_of(config: Tree, key: str) -> Labels:
    """The names for the masks and boxes of one series; those of another key that ends alike where there are none."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for name, table in _TABLES.items():
        entries = config.get("_wandb", table)
        layers: dict[str, dict[str, str]] = {}
        for entry, value in entries.items() if isinstance(entries, Mapping) else ():
            owner, cut, layer = str(entry).partition(_DELIMITER)
            if cut and owner in (key, key.rpartition(".")[2]):
                layers[layer] = _names(value)
        found[name] = layers
    return found


def _names(value: Any) -> dict[str, str]:
    names = value.get("value") if isinstance(value, Mapping) else None
    return {str(number): str(name) for number, name in names.items()} if isinstance(names, Mapping) else {}
