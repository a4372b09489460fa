"""`run.watch(model)`: histograms of the parameters and gradients of a torch model, every so many passes.

Torch is not imported: a model is one of torch only where the program has imported it. The counting is torch's own, on
the device of the tensor; only 64 counts and two edges travel to the host.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from recorder.errors import UsageError
from recorder.histogram import Histogram
from recorder.notices import warn_once

_BINS = 64
_WHAT = ("gradients", "parameters", "all", None)


class Target(Protocol):
    """Where histograms go: a run."""

    def log(self, data: Mapping[str, Any], step: int | None = None, commit: bool | None = None) -> None: ...


class Watching:
    """Methods of a run that watch models."""

    _watcher: Watcher | None = None
    _features: dict[str, bool]

    def watch(
        self,
        models: Any,
        criterion: Any = None,
        log: str | None = "gradients",
        log_freq: int = 1000,
        idx: int | None = None,
        log_graph: bool = False,
    ) -> None:
        """Logs histograms of the gradients or parameters of torch modules, into the rows that are logged anyway.

        Args:
            models: a `torch.nn.Module`, or several.
            criterion: taken for the SDK's sake.
            log: `gradients`, `parameters`, `all`, or None for nothing.
            log_freq: how many passes through the model one histogram is made for.
            idx: the number of the first model, where there are several.
            log_graph: taken for the SDK's sake; graphs are not recorded.

        Raises:
            TypeError: a model that is none of torch.
            UsageError: another word in `log`.
            ValueError: a frequency below 1.
        """
        if self._watcher is None:
            self._watcher = Watcher(cast(Target, self))
        self._watcher.watch(models, criterion, log, log_freq, idx)
        self._features["watch"] = True
        if log_graph:
            warn_once("watch(log_graph=True): graphs of models are not recorded")

    def unwatch(self, models: Any = None) -> None:
        """Stops watching these modules, or all."""
        if self._watcher is not None:
            self._watcher.unwatch(models)


class Watcher:
    """The watched models of one run."""

    def __init__(self, run: Target) -> None:
        self._run = run
        self._hooks: list[tuple[Any, Any]] = []
        """Model and handle of a hook of torch."""
        self._models = 0

    def watch(
        self, models: Any, criterion: Any = None, log: str | None = "gradients", log_freq: int = 1000, idx: Any = None
    ) -> None:
        """Watches a module or several.

        Raises TypeError for what is no torch module, UsageError for other words in `log`, ValueError for a
        frequency below 1.
        """
        if log not in _WHAT:
            raise UsageError(f"watch(log={log!r}) is not possible: one of 'gradients', 'parameters', 'all', None")
        if log_freq < 1:
            raise ValueError("log_freq is a number of passes, 1 or more")
        found = models if isinstance(models, list | tuple) else (models,)
        torch = sys.modules.get("torch")
        for model in found:
            if torch is None or not isinstance(model, torch.nn.Module):
                raise TypeError(f"Expected a pytorch module (torch.nn.Module). Received {type(model)}")
        for i, model in enumerate(found, self._models if idx is None else int(idx)):
            prefix = f"graph_{i}" if i else ""
            if log in ("parameters", "all"):
                self._watch_parameters(model, prefix, log_freq)
            if log in ("gradients", "all"):
                self._watch_gradients(model, prefix, log_freq)
        self._models += len(found)

    def unwatch(self, models: Any = None) -> None:
        """Stops watching these modules, or all of them."""
        chosen: Sequence[Any] | None = models if isinstance(models, list | tuple | None) else (models,)
        kept = []
        for model, handle in self._hooks:
            if chosen is None or any(model is one for one in chosen):
                handle.remove()
            else:
                kept.append((model, handle))
        self._hooks = kept

    def _watch_parameters(self, model: Any, prefix: str, frequency: int) -> None:
        passes = 0

        def after_forward(module: Any, inputs: Any, output: Any) -> None:
            nonlocal passes
            passes += 1
            if passes >= frequency:
                passes = 0
                for name, parameter in module.named_parameters():
                    self._log(f"parameters/{prefix}{name}", parameter)

        self._hooks.append((model, model.register_forward_hook(after_forward)))

    def _watch_gradients(self, model: Any, prefix: str, frequency: int) -> None:
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                hook = self._gradient_hook(f"gradients/{prefix}{name}", frequency)
                self._hooks.append((model, parameter.register_hook(hook)))

    def _gradient_hook(self, key: str, frequency: int) -> Any:
        passes = 0

        def after_backward(gradient: Any) -> None:
            nonlocal passes
            passes += 1
            if passes >= frequency:
                passes = 0
                self._log(key, gradient)

        return after_backward

    def _log(self, key: str, tensor: Any) -> None:
        found = histogram(tensor)
        if found is not None:
            self._run.log({key: found}, commit=False)


def histogram(tensor: Any) -> Histogram | None:
    """The finite numbers of a tensor in 64 equal bins; None where there are none."""
    flat = tensor.detach()
    if flat.is_sparse:
        flat = flat.coalesce().values()
    flat = flat.flatten().float()
    flat = flat[flat.isfinite()]
    if not flat.numel():
        return None
    low, high = flat.min().item(), flat.max().item()
    if low == high:
        low, high = low - 0.5, high + 0.5
        if low == high:  # so large that half of one is nothing beside it
            low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    counts = flat.histc(bins=_BINS, min=low, max=high).tolist()
    edges = [low + (high - low) * i / _BINS for i in range(_BINS + 1)]
    return Histogram(np_histogram=([int(count) for count in counts], edges))
