"""All that a model of a run says, as plain values that can be compared."""

from __future__ import annotations

from typing import Any

from leet.model.run import RunModel


def model_view(model: RunModel) -> dict[str, Any]:
    """Everything but the objects themselves; NaN is spelt out, so that it equals itself."""
    metrics, system = model.metrics, model.system
    rows = (metrics.steps, metrics.runtimes, metrics.timestamps)
    view = {
        "identity": model.identity,
        "config": model.config.to_dict(),
        "summary": model.summary.to_dict(),
        "environment": model.environment.to_dict(),
        "telemetry": model.telemetry,
        "rows": [column.view.tolist() for column in rows],
        "metrics": {
            name: (metrics.series(name).rows.tolist(), metrics.series(name).values.tolist(), metrics.definition(name))
            for name in metrics.names()
        },
        "system": [
            (chart, label, x.tolist(), y.tolist())
            for chart in system.charts()
            for label, x, y in system.traces(chart, None, None, 10_000)
        ],
        "console": model.console.lines(10_000),
        "texts": model.texts,
        "alerts": model.alerts,
        "skipped": model.skipped,
        "ending": (model.exit_code, model.exit_runtime, model.preempting),
        "counts": (model.records, model.files, model.artifacts_logged, model.artifacts_used, model.skipped_bytes),
        "read": (model.loaded_bytes, model.size, model.modified),
    }
    return {name: repr(_ordered(value)) for name, value in view.items()}


def _ordered(value: Any) -> Any:
    """The order of keys depends on where the log was divided, and means nothing."""
    if isinstance(value, dict):
        return sorted((key, _ordered(below)) for key, below in value.items())
    return value
