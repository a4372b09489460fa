"""The whole program in a real pseudo-terminal, and in tmux where there is one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from example_run import ExampleRun, trained
from terminals import ROOT, PseudoTerminal, viewer

USUAL = {"7", "25"}
"""Private modes that are on when nothing runs: lines wrap, the cursor is visible."""


def test_it_draws_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path))) as terminal:
        before = termios.tcgetattr(terminal.fd)
        text = terminal.until(r"finished · balmy-river-7")
        assert "grad_norm" in text
        assert re.search("[\u2801-\u28ff]", text)
        terminal.send("q")
        assert terminal.end() == 0
        assert terminal.modes() <= USUAL
        assert termios.tcgetattr(terminal.fd) == before
        assert b"Traceback" not in terminal.raw


def test_ctrl_c_quits_too(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path))) as terminal:
        terminal.until("finished")
        terminal.type("/lo", "filter metrics regex › lo")
        terminal.send("\x03")
        assert terminal.end() == 0
        assert terminal.modes() <= USUAL


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=lambda s: s.name)
def test_a_signal_ends_it_with_the_terminal_as_it_was(tmp_path: Path, ending: signal.Signals) -> None:
    with viewer(str(trained(tmp_path))) as terminal:
        before = termios.tcgetattr(terminal.fd)
        terminal.until("finished")
        os.kill(terminal.pid, ending)
        assert terminal.end() == 128 + ending
        assert terminal.modes() <= USUAL
        assert termios.tcgetattr(terminal.fd) == before
        assert b"Traceback" not in terminal.raw


@pytest.mark.parametrize(
    "noise",
    [
        b"\xe9",  # é of a terminal in Latin-1
        b"\x1b[M \xff\xff",  # the mouse of an old terminal, beyond column 95
        b"\x1b[:1u\x1b[99999200~\x1b[999999999999999999R",
        b"\x1b[48;99999;99999;1;1t",
        b"\x1b[48;0;0;0;0t",
        bytes(range(0x80, 0x100)) * 40,
    ],
    ids=["latin", "mouse", "numbers", "large", "nothing", "noise"],
)
def test_whatever_the_terminal_sends_keys_work_afterwards(tmp_path: Path, noise: bytes) -> None:
    with viewer(str(trained(tmp_path))) as terminal:
        terminal.until("finished")
        # What is drawn beyond the terminal cannot be read there: after that it says again how large it is.
        os.write(terminal.fd, noise + b"\x1b[C\x1b[48;%d;%d;0;0t" % (terminal.rows, terminal.columns))
        terminal.pump(0.5)
        terminal.type("/lo", "filter metrics regex › .*lo")
        terminal.send("\x03")
        assert terminal.end() == 0
        assert b"Traceback" not in terminal.raw


def test_it_is_continued_without_having_been_stopped(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path))) as terminal:
        terminal.until("finished")
        written = len(terminal.raw)
        os.kill(terminal.pid, signal.SIGCONT)
        # Keys that are typed before the terminal is taken again are thrown away.
        terminal.until_written(b"\x1b[?1049h", written)
        terminal.type("?", "Esc close")
        terminal.send("\x1bq")
        for _ in range(3):
            terminal.pump(0.1)
        terminal.send("q")
        assert terminal.end() == 0
        assert terminal.modes() <= USUAL


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed here")
def test_ctrl_z_goes_back_to_the_shell_and_fg_returns(tmp_path: Path) -> None:
    command = f"{sys.executable} -m leet {trained(tmp_path)}"
    with PseudoTerminal("bash", "--norc", "-i", PS1="> ") as terminal:
        terminal.type(command + "\n", "finished · balmy-river-7")
        terminal.type("\x1a", "Stopped")
        assert terminal.modes() <= {*USUAL, "2004"}
        written = len(terminal.raw)
        terminal.screen.reset()
        terminal.type("fg\n", "finished · balmy-river-7")
        assert b"\x1b[?1049h" in terminal.raw[written:]
        terminal.send("q")
        terminal.until_written(b"\x1b[?1049l", written)
        terminal.until_written(b"> ", terminal.raw.index(b"\x1b[?1049l", written))  # what is typed before may be lost
        terminal.type("echo A$((1+1))\n", "A2")
        assert terminal.modes() <= {*USUAL, "2004"}


def test_ctrl_z_without_a_shell_goes_on(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path))) as terminal:
        terminal.until("finished")
        terminal.send("\x1a")
        for _ in range(10):
            terminal.pump(0.1)
        terminal.type("?", "Esc close")
        terminal.send("\x03")
        assert terminal.end() == 0
        assert terminal.modes() <= USUAL


def test_the_size_is_what_the_terminal_says(tmp_path: Path) -> None:
    environ = {"COLUMNS": "1000000", "LINES": "1000000", "TEXTUAL_COLOR_SYSTEM": "no such thing"}
    with viewer(str(trained(tmp_path)), **environ) as terminal:
        terminal.until(r"finished · balmy-river-7")
        terminal.send("q")
        assert terminal.end() == 0


def test_growth_is_seen_as_it_is_written(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    run.flush()
    with viewer(str(run.log)) as terminal:
        terminal.until(r"running · balmy-river-7 · step 4\b")
        for step in (5, 6, 7):
            run.train(1)
            run.flush()
            terminal.until(rf"step {step}\b", seconds=20)
        run.row({"brand/new": 1.0})
        run.flush()
        terminal.until("brand/new")
        run.finish(1)
        terminal.until(r"failed \(exit code 1\)")
        terminal.send("q")
        assert terminal.end() == 0


def test_a_filter_is_typed_pasted_and_cleared(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path, metrics=20))) as terminal:
        terminal.until("finished")
        # All in one burst, as tmux and slow lines deliver it: every key goes where it was meant to go.
        terminal.send("/loss\rn")
        terminal.until(r"/loss/ 2/20")
        terminal.send("/\x15")
        terminal.until(r"20/20")
        # Bracketed paste, as a terminal sends it.
        terminal.send("\x1b[200~val/accuracy\x1b[201~")
        terminal.until(r"val/accuracy +1/20")
        terminal.send("\r")
        terminal.until(r"/val/accuracy/ 1/20")
        # ctrl+/ arrives as 0x1f from many terminals and from tmux.
        terminal.send("\x1f")
        terminal.until(r"grad_norm")
        terminal.send("q")
        assert terminal.end() == 0


def test_pages_full_size_and_help(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path, metrics=40)), size=(80, 24)) as terminal:
        terminal.until("page 1/")
        terminal.type("n", "page 2/")
        terminal.type("\x1b[5~", "page 1/")
        terminal.type("?", "Esc close")
        terminal.send("\x1b[F")
        terminal.until("Select text")
        terminal.send("\x1b")
        terminal.until("page 1/")
        terminal.send("\x1b[C\r")
        terminal.until("chart 1 of 40")
        terminal.send("\x1b")
        terminal.until("page 1/")
        terminal.send("q")
        assert terminal.end() == 0


def test_the_terminal_may_change_its_size(tmp_path: Path) -> None:
    import fcntl
    import struct

    with viewer(str(trained(tmp_path)), size=(120, 40)) as terminal:
        terminal.until("Overview")
        fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.kill(terminal.pid, signal.SIGWINCH)
        deadline = time.monotonic() + 30
        while "\x1b[24;" not in terminal.raw.decode("utf-8", "replace")[-20000:] and time.monotonic() < deadline:
            terminal.pump(0.1)
        terminal.screen.resize(24, 80)
        terminal.send("hh")
        terminal.until("finished")
        terminal.send("q")
        assert terminal.end() == 0


def colours(raw: bytes) -> set[bytes]:
    """Parameters of every SGR sequence that sets a colour, apart from the defaults."""
    parameters = {p for m in re.findall(rb"\x1b\[([0-9;]*)m", raw) for p in m.split(b";") if p}
    return {p for p in parameters if 30 <= int(p) <= 47 or 90 <= int(p) <= 107} - {b"39", b"49"}


def test_no_color_writes_no_colour(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path)), NO_COLOR="1", COLORTERM="truecolor") as terminal:
        terminal.until("finished")
        terminal.send("\x1b[C")
        terminal.send("q")
        assert terminal.end() == 0
        assert colours(bytes(terminal.raw)) == set()


def test_sixteen_colours_stay_sixteen(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path)), size=(200, 50), TERM="xterm") as terminal:
        terminal.until("finished")
        terminal.until("GPU 1")
        terminal.send("q")
        assert terminal.end() == 0
        assert b"38;2;" not in terminal.raw
        assert b"38;5;" not in terminal.raw
        assert len(colours(bytes(terminal.raw))) >= 4


@pytest.mark.parametrize("environ", [{"LC_ALL": "C"}, {"LANG": "en_US.ISO-8859-1"}, {"TERM": "linux"}], ids=str)
def test_where_there_is_no_utf8_seven_bits_are_enough(tmp_path: Path, environ: dict[str, str]) -> None:
    with viewer(str(trained(tmp_path)), size=(120, 40), **environ) as terminal:
        text = terminal.until("finished")
        assert "grad_norm" in text
        terminal.type("?", "Show or hide the metrics")
        terminal.send("\x1bq")
        time.sleep(0.2)
        terminal.send("q")
        terminal.end()
        assert bytes(terminal.raw).isascii()


def test_without_a_mouse_none_is_asked_for(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path)), "--no-mouse") as terminal:
        terminal.until("finished")
        terminal.send("q")
        terminal.end()
        assert not re.search(rb"\x1b\[\?100[0236]h", bytes(terminal.raw))


def test_an_idle_viewer_is_silent(tmp_path: Path) -> None:
    with viewer(str(trained(tmp_path))) as terminal:
        terminal.until("finished")
        for _ in range(20):
            terminal.pump(0.1)
        written = len(terminal.raw)
        for _ in range(20):
            terminal.pump(0.1)
        assert len(terminal.raw) == written
        terminal.send("q")
        terminal.end()


tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed here")


class Tmux:
    """A tmux server of its own with one window."""

    def __init__(self, directory: Path, command: str, size: tuple[int, int] = (120, 40)) -> None:
        self._base = ["tmux", "-S", str(directory / "tmux.sock"), "-f", os.devnull]
        columns, rows = map(str, size)
        environ = {k: v for k, v in os.environ.items() if k != "TMUX"}
        started = [*self._base, "new-session", "-d", "-s", "t", "-x", columns, "-y", rows, command]
        subprocess.run(started, check=True, env={**environ, "LANG": "C.UTF-8", "TERM": "xterm-256color"})

    def keys(self, *keys: str) -> None:
        subprocess.run([*self._base, "send-keys", "-t", "t", *keys], check=True)

    def until(self, pattern: str, seconds: float = 60.0) -> str:
        deadline = time.monotonic() + seconds
        text = ""
        while time.monotonic() < deadline:
            shown = subprocess.run([*self._base, "capture-pane", "-p", "-t", "t"], capture_output=True, text=True)
            text = shown.stdout
            if re.search(pattern, text):
                return text
            time.sleep(0.1)
        raise AssertionError(f"{pattern!r} did not appear on\n{text}")

    def close(self) -> None:
        subprocess.run([*self._base, "kill-server"], capture_output=True)


@tmux
def test_in_tmux(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(20, metrics=20)
    run.sample(10)
    run.flush()
    command = f"sh -c 'PYTHONPATH={ROOT} {sys.executable} -m leet {run.log}; echo left with $?; sleep 60'"
    inside = Tmux(tmp_path, command)
    try:
        text = inside.until(r"running · balmy-river-7 · step 19\b")
        assert "GPU Utilization" in text
        run.train(1, metrics=20)
        run.flush()
        inside.until(r"step 20\b")
        inside.keys("/", "l", "o", "s", "s", "Enter")
        inside.until(r"/loss/ 2/20")
        inside.keys("C-_")
        inside.until(r"grad_norm")
        inside.keys("BTab")
        inside.keys("q")
        inside.until("left with 0")
    finally:
        inside.close()
        run.writer.close()
