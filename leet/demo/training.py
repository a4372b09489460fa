"""The training that `leet demo` shows: a multilayer perceptron learns to tell spiral arms apart.

An ordinary script of the kind that people have: it knows nothing of the viewer and logs through the recorder
under its usual alias. Run it by itself with `python -m leet.demo.training --seconds 20`.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import recorder as wandb

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

Samples = tuple[Array, Labels]

ARMS, NOISE, EXTRA_FEATURES = 5, 0.2, 22
TRAINING, VALIDATION = 3000, 1000
HIDDEN, BATCH, PEAK_RATE, WEIGHT_DECAY, SEED = (64, 64), 64, 0.004, 1e-4, 7

STEPS_PER_SECOND = 30.0
"""No faster than this, so that a laptop stays quiet."""

CONFIG = {
    "model": {"hidden": list(HIDDEN), "activation": "tanh"},
    "optimizer": {"name": "adam", "peak_rate": PEAK_RATE, "weight_decay": WEIGHT_DECAY},
    "data": {"arms": ARMS, "noise": NOISE, "training": TRAINING, "validation": VALIDATION},
    "batch_size": BATCH,
    "seed": SEED,
}

CLEAR_LINE = "\r\x1b[K"
"""Back to the start of the line and clear it: how a progress bar is redrawn in place."""


def spirals(samples: int, rng: np.random.Generator) -> Samples:
    """Points on `ARMS` intertwined spirals, hidden among features that carry nothing.

    Shapes: features float64 [samples, 2 + EXTRA_FEATURES], labels int64 [samples].
    """
    labels = rng.integers(0, ARMS, samples)
    radius = np.sqrt(rng.uniform(0.02, 1, samples))
    angle = 2 * np.pi * (labels / ARMS + 0.85 * radius) + rng.normal(0, NOISE, samples)
    plane = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1) * 2.5
    return np.concatenate([plane, rng.normal(0, 0.2, (samples, EXTRA_FEATURES))], axis=1), labels


@dataclass(slots=True)
class Perceptron:
    """Dense layers with tanh between them, trained on the cross-entropy by Adam with weight decay."""

    sizes: tuple[int, ...]
    rng: np.random.Generator
    weight_decay: float
    weights: list[Array] = field(init=False)
    moments: list[tuple[Array, Array]] = field(init=False)
    updates: int = 0

    def __post_init__(self) -> None:
        self.weights = []
        for fan_in, fan_out in zip(self.sizes, self.sizes[1:], strict=False):
            self.weights.append(self.rng.normal(0, fan_in**-0.5, (fan_in, fan_out)))
            self.weights.append(np.zeros((1, fan_out)))
        self.moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self.weights]

    def forward(self, x: Array) -> tuple[list[Array], Array]:
        """The activations in front of each layer, and the class probabilities [samples, classes]."""
        activations = [x]
        for i in range(0, len(self.weights), 2):
            z = activations[-1] @ self.weights[i] + self.weights[i + 1]
            activations.append(np.tanh(z) if i + 2 < len(self.weights) else z)
        logits = activations.pop()
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        return activations, p / p.sum(axis=1, keepdims=True)

    def score(self, x: Array, labels: Labels) -> tuple[float, float]:
        """Mean cross-entropy in nats, and accuracy."""
        _, p = self.forward(x)
        return _cross_entropy(p, labels), float((p.argmax(axis=1) == labels).mean())

    def step(self, x: Array, labels: Labels, rate: float) -> tuple[float, float, list[Array]]:
        """One update on one minibatch: its loss, its accuracy, and the gradients (one per weight array)."""
        activations, p = self.forward(x)
        accuracy = float((p.argmax(axis=1) == labels).mean())
        loss = _cross_entropy(p, labels)
        p[np.arange(len(labels)), labels] -= 1
        delta = p / len(labels)
        gradients: list[Array] = []
        for i in range(len(self.weights) - 2, -1, -2):
            before = activations[i // 2]
            gradients[:0] = [before.T @ delta, delta.sum(axis=0, keepdims=True)]
            delta = (delta @ self.weights[i].T) * (1 - before**2)
        self._adam(gradients, rate)
        return loss, accuracy, gradients

    def _adam(self, gradients: list[Array], rate: float) -> None:
        self.updates += 1
        for w, g, (m, v) in zip(self.weights, gradients, self.moments, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            m_hat, v_hat = m / (1 - 0.9**self.updates), v / (1 - 0.999**self.updates)
            w -= rate * (m_hat / (np.sqrt(v_hat) + 1e-8) + self.weight_decay * w)


def _cross_entropy(p: Array, labels: Labels) -> float:
    return float(-np.log(p[np.arange(len(labels)), labels] + 1e-12).mean())


def minibatches(samples: int, size: int, rng: np.random.Generator) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Epoch number and row numbers of one minibatch after another, for ever."""
    epoch = 0
    while True:
        order = rng.permutation(samples)
        for start in range(0, samples - size + 1, size):
            yield epoch, order[start : start + size]
        epoch += 1


def learning_rate(peak: float, progress: float) -> float:
    """Linear warm-up over the first twentieth, then a cosine down to a hundredth of the peak."""
    if progress < 0.05:
        return peak * progress / 0.05
    return peak * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (progress - 0.05) / 0.95)))


def train(seconds: float, directory: str | None = None, run_id: str | None = None) -> None:
    """Train for `seconds`, recording the run below `directory`; ctrl+c ends the training early, not the run."""
    run = wandb.init(
        project="leet-demo",
        name="spirals-mlp",
        id=run_id,
        dir=directory,
        config=CONFIG,
        tags=["demo", "numpy"],
        notes="A perceptron learns five intertwined spirals.",
        settings={"x_stats_sampling_interval": 2.0},
    )
    wandb.define_metric("validation/*", step_metric="epoch")
    rng = np.random.default_rng(SEED)
    training, validation = spirals(TRAINING, rng), spirals(VALIDATION, rng)
    net = Perceptron((training[0].shape[1], *HIDDEN, ARMS), rng, WEIGHT_DECAY)
    print(f"training on {TRAINING} points, {sum(w.size for w in net.weights)} weights, for {seconds:g} s")
    try:
        fit(net, training, validation, rng, seconds)
    except KeyboardInterrupt:
        print("\nstopped early")
    loss, accuracy = net.score(*validation)
    run.summary["final"] = {"validation_loss": loss, "validation_accuracy": accuracy}
    print(f"{CLEAR_LINE}done: validation loss {loss:.4f}, accuracy {accuracy:.1%}")
    run.finish()


def fit(net: Perceptron, training: Samples, validation: Samples, rng: np.random.Generator, seconds: float) -> None:
    """Update the weights until `seconds` are over, logging a row a step and the validation once an epoch."""
    x, labels = training
    started = time.monotonic()
    last_epoch = -1
    for step, (epoch, rows) in enumerate(minibatches(len(x), BATCH, rng)):
        elapsed = time.monotonic() - started
        if elapsed >= seconds:
            return
        rate = learning_rate(PEAK_RATE, elapsed / seconds)
        loss, accuracy, gradients = net.step(x[rows], labels[rows], rate)
        row: dict[str, object] = {
            "epoch": epoch,
            "learning_rate": rate,
            "train/loss": loss,
            "train/accuracy": accuracy,
            "gradients/norm": math.sqrt(sum(float((g * g).sum()) for g in gradients)),
        }
        for i in range(0, len(net.weights), 2):
            row[f"weights/layer_{i // 2}"] = float(np.linalg.norm(net.weights[i]))
        if epoch != last_epoch:
            last_epoch = epoch
            val_loss, val_accuracy = net.score(*validation)
            row |= {
                "validation/loss": val_loss,
                "validation/accuracy": val_accuracy,
                "gradients/first_layer": wandb.Histogram(np_histogram=np.histogram(gradients[0], bins=32)),
            }
            print(f"{CLEAR_LINE}epoch {epoch:3d}  validation loss {val_loss:.4f}  accuracy {val_accuracy:.1%}")
        wandb.log(row)
        if step % 5 == 0:
            done = int(30 * elapsed / seconds)
            print(f"{CLEAR_LINE}[{'=' * done:30}] step {step}  loss {loss:.4f}", end="", flush=True)
        time.sleep(max(0.0, (step + 1) / STEPS_PER_SECOND - (time.monotonic() - started)))


def main() -> int:
    parser = argparse.ArgumentParser(description="Train a small perceptron and record the run.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--dir")
    parser.add_argument("--id")
    args = parser.parse_args()
    train(args.seconds, directory=args.dir, run_id=args.id)
    return 0


if __name__ == "__main__":
    sys.exit(main())
