"""Which end of a result is the good one, as its name says.

    val/loss, error_rate, perplexity, time_per_step    the smaller the better
    val/accuracy, f1, auc, reward, images_per_second   the larger the better
    learning_rate, grad_norm                           neither

The last word of the name that says anything counts: `accuracy_loss` is a loss.
"""

from __future__ import annotations

import re
from typing import Literal

Goal = Literal["low", "high"]

_LOW = frozenset({
    "loss", "losses", "error", "errors", "err", "perplexity", "ppl", "mse", "rmse", "mae", "mape", "nll", "bpb",
    "bpc", "wer", "cer", "fid", "kid", "divergence", "regret", "latency", "time", "seconds", "duration", "ece",
    "brier", "hamming", "fpr", "fnr", "mistakes", "failures", "nan", "cost",
})  # fmt: skip
_HIGH = frozenset({
    "acc", "accuracy", "acc1", "acc5", "top1", "top5", "precision", "recall", "f1", "fbeta", "auc", "auroc",
    "auprc", "ap", "map", "iou", "miou", "dice", "bleu", "rouge", "meteor", "score", "reward", "return",
    "returns", "success", "psnr", "ssim", "r2", "correlation", "throughput", "fps", "correct", "tpr", "tnr",
    "win", "wins", "ndcg", "mrr", "hits", "em", "mcc", "kappa",
})  # fmt: skip
_WORDS = re.compile(r"[a-z]+[0-9]*|[0-9]+")
_RATE = re.compile(r"per_?(second|sec|s)$|_ps$")


def goal_of(name: str) -> Goal | None:
    """The good end of the metric of this name; None where the name does not say."""
    low = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    if _RATE.search(low):
        return "high"
    for word in reversed(_WORDS.findall(low)):
        if word in _LOW:
            return "low"
        if word in _HIGH:
            return "high"
    return None
