"""Fixtures that every ring of tests shares."""

from __future__ import annotations

import gc
import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import parsed_styles
import pytest
import textual.app
import textual.pilot
from hypothesis import settings
from idle import ignore_threads_of_now, until_idle

if TYPE_CHECKING:
    from ssh_server import SshServer

# A busy machine is no failure.
# The same examples every time, so that what was green stays green; `--hypothesis-profile=explore` looks for new ones.
settings.register_profile("leet", deadline=None, max_examples=40, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=400)
settings.load_profile("leet")

textual.app.wait_for_idle = textual.pilot.wait_for_idle = until_idle
parsed_styles.share()

WandbInspect = Callable[..., "subprocess.CompletedProcess[bytes]"]
CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def corpus_logs() -> list[Path]:
    """Every real log beside the checkout, none where there is no corpus."""
    return sorted(p for p in CORPUS.glob("**/run-*.wandb") if "latest-run" not in p.parts)


@pytest.fixture
def corpus() -> Path:
    """The directory of real logs; the test is skipped where it is not beside the checkout."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real logs is not beside this checkout")
    return CORPUS


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Places for directories, apart from others: for each that it makes pytest goes through all that are there."""
    return map(tmp_path_factory.mktemp("homes").joinpath, map(str, itertools.count()))


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings, state or W&B variables leak into a test, and no test leaves any behind."""
    home = next(homes)
    home.mkdir()
    for name in [n for n in os.environ if n.startswith(("WANDB_", "XDG_", "LEET_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.fixture(scope="session")
def wandb_command() -> list[str]:
    """The real `wandb` program, which is a development dependency."""
    program = Path(sys.executable).parent / "wandb"
    if not program.exists():
        pytest.skip("the wandb package is not installed beside this Python")
    return [str(program)]


@pytest.fixture(scope="session")
def wandb_inspect() -> WandbInspect:
    """`wandb leet inspect --json LOG` by the program behind it: the command in front takes thirty times as long."""
    spec = importlib.util.find_spec("wandb")
    if spec is None or spec.origin is None:
        pytest.skip("the wandb package is not installed")
    core = str(Path(spec.origin).with_name("bin") / "wandb-core")

    def inspect(log: str | os.PathLike[str], *options: str) -> subprocess.CompletedProcess[bytes]:
        command = [core, "leet", "inspect", "--json", *options, "--no-observability", "--run-file", os.fspath(log)]
        done = subprocess.run(command, capture_output=True, timeout=240)
        assert done.returncode == 0, done.stderr
        return done

    return inspect


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    """An ssh server on this machine; modules that need several kinds of them have a fixture of their own."""
    from ssh_server import serving

    with serving(tmp_path_factory.mktemp("ssh")) as running:
        yield running


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores: many tests wait for terminals and processes."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keeps modules that make something dear for all of their tests on one worker, and the others on any."""
    from scheduling import Scheduling

    return Scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_configure() -> None:
    """What runs in the background, or under nohup, is deaf to some signals, and so would be all that is tested."""
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # which Python ignores itself
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def pytest_collection_finish() -> None:
    """What importing all of this made stays: collections, else a quarter of the time, need not go through it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)  # as the app has it
    ignore_threads_of_now()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write what is drawn into tests/goldens")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: `text` must be that of tests/goldens/NAME.txt; with --update-goldens it is put there."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "goldens" / f"{name}.txt"
        if request.config.getoption("--update-goldens"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        assert path.exists(), f"no {path.name} yet: look at the picture, then run pytest with --update-goldens\n{text}"
        assert text + "\n" == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is UTC, also for what remembers labels of the clock."""
    from leet.charts.ticks import clock_ticks

    with monkeypatch.context() as here:
        here.setenv("TZ", "UTC")
        time.tzset()
        clock_ticks.cache_clear()
        yield
    time.tzset()
    clock_ticks.cache_clear()
