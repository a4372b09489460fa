"""The demo trains, records a run that the viewer can open, and says where it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from leet.demo.training import CONFIG, Perceptron, learning_rate, spirals
from leet.model.run import RunModel
from leet.reading.tail import read


def _model(log: Path) -> RunModel:
    model = RunModel(log)
    for batch in read(log):
        model.apply(batch)
    return model


def test_gradients_are_those_of_the_loss() -> None:
    """Every analytic derivative against a central difference of the cross-entropy, in nats."""
    rng = np.random.default_rng(3)
    x, labels = spirals(12, rng)
    net = Perceptron((x.shape[1], 4, 5), rng, weight_decay=0.0)
    weights = [w.copy() for w in net.weights]
    _, _, gradients = net.step(x, labels, rate=0.0)
    for layer, gradient in enumerate(gradients):
        index = tuple(rng.integers(0, n) for n in gradient.shape)
        scores = []
        for nudge in (1e-5, -1e-5):
            net.weights = [w.copy() for w in weights]
            net.weights[layer][index] += nudge
            scores.append(net.score(x, labels)[0])
        assert np.isclose(gradient[index], (scores[0] - scores[1]) / 2e-5, atol=1e-7)


def test_it_learns() -> None:
    rng = np.random.default_rng(7)
    x, labels = spirals(600, rng)
    net = Perceptron((x.shape[1], 32, 5), rng, weight_decay=1e-4)
    before, _ = net.score(x, labels)
    for step in range(150):
        net.step(x, labels, learning_rate(0.02, step / 150))
    after, accuracy = net.score(x, labels)
    assert after < before / 2
    assert accuracy > 0.6


def test_the_learning_rate_warms_up_and_falls() -> None:
    rates = [learning_rate(1.0, p) for p in (0.0, 0.025, 0.05, 0.5, 1.0)]
    assert rates[:3] == [0.0, 0.5, 1.0]
    assert 1.0 > rates[3] > rates[4] == 0.01


def test_the_demo_records_a_whole_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "leet", "demo", "--seconds", "1.5", "--no-view"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    log = next(tmp_path.glob("leet-demo/wandb/offline-run-*/run-*.wandb"))
    assert f"The run is kept in {log.parent.relative_to(tmp_path)}" in done.stdout
    model = _model(log)
    assert model.exit_code == 0
    assert {"train/loss", "validation/accuracy", "learning_rate", "gradients/norm"} <= set(model.metrics.names())
    assert dict(model.config.rows())["batch_size"] == str(CONFIG["batch_size"])
    assert dict(model.summary.rows())["gradients/first_layer"].startswith("histogram · 32 bins")
    assert model.console.lines(5)


def test_without_a_terminal_the_charts_are_printed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "leet", "demo", "--seconds", "1", "--dir", "here"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "train/loss" in done.stdout
    assert "no terminal" in done.stderr


def test_ctrl_c_ends_the_training_and_finishes_the_run(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "leet", "demo", "--seconds", "60", "--no-view"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert demo.stdout is not None
    while "step" not in demo.stdout.read(40):
        assert demo.poll() is None
    time.sleep(0.3)
    os.killpg(demo.pid, signal.SIGINT)
    said, _ = demo.communicate(timeout=30)
    assert "stopped early" in said
    assert "The run is kept in" in said
    assert _model(next(tmp_path.glob("leet-demo/wandb/*/run-*.wandb"))).exit_code == 0


def test_wrong_seconds_are_refused() -> None:
    done = subprocess.run([sys.executable, "-m", "leet", "demo", "--seconds", "nan"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "number of seconds above 0" in done.stderr
