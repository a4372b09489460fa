"""What a program prints, on the screen and in the log."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from recorded import QUIET, log_of, of_kind, printed, run_script

from recorder.console import Capture

START = f"import recorder as wandb, sys\nrun = wandb.init(project='p', settings={{**{QUIET}, 'silent': True}})\n"


def own_streams(monkeypatch: pytest.MonkeyPatch) -> tuple[io.TextIOWrapper, io.TextIOWrapper]:
    """Streams of this test in place of pytest's; set in the test itself, as pytest sets its own between phases."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    return out, err


def written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def test_both_streams_are_heard_and_pass_through(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = own_streams(monkeypatch)
    heard: list[tuple[str, str]] = []
    capture = Capture(lambda stream, text: heard.append((stream, text)))
    capture.start()
    print("a", "b")
    sys.stderr.writelines(["x\n", "y\n"])
    assert sys.stdout.write("") == 0
    capture.stop()
    print("after")
    assert "".join(text for stream, text in heard if stream == "stdout") == "a b\n"
    assert "".join(text for stream, text in heard if stream == "stderr") == "x\ny\n"
    assert written(streams[0]) == "a b\nafter\n"
    assert "write" not in streams[0].__dict__
    assert "write" not in streams[1].__dict__


def test_what_the_recorder_says_is_no_output_of_the_program(tmp_path: Path) -> None:
    script = START.replace("True", "False") + "wandb.init(nonsense=1)\nprint('mine', file=sys.stderr)\n"
    done = run_script(script, tmp_path)
    assert "nonsense" in done.stderr
    assert printed(log_of(tmp_path), 0) == "mine\n"


def test_a_stream_put_over_ours_is_still_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = own_streams(monkeypatch)

    class Tee:
        def __init__(self, below: io.TextIOWrapper) -> None:
            self.below = below

        def write(self, text: str) -> int:
            return self.below.write(text.upper())

        def flush(self) -> None:
            self.below.flush()

    heard: list[str] = []
    capture = Capture(lambda stream, text: heard.append(text))
    capture.start()
    sys.stdout = Tee(streams[0])  # type: ignore[assignment]
    print("loud")
    capture.stop()
    print("after")
    assert "".join(heard) == "LOUD\n"
    assert written(streams[0]) == "LOUD\nAFTER\n"
    assert isinstance(sys.stdout, Tee)


def test_a_wrapper_put_around_ours_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = own_streams(monkeypatch)
    heard: list[str] = []
    capture = Capture(lambda stream, text: heard.append(text))
    capture.start()
    inner = sys.stdout.write
    sys.stdout.write = lambda text: inner(f"[{text}]")  # type: ignore[method-assign]
    print("x", end="")
    capture.stop()
    print("y", end="")
    assert "".join(heard) == "[x][]"
    assert written(streams[0]) == "[x][][y][]"


def test_what_the_listener_prints_is_not_heard_again(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = own_streams(monkeypatch)
    heard: list[str] = []

    def listen(stream: str, text: str) -> None:
        heard.append(text)
        print("echo", end="")

    capture = Capture(listen)
    capture.start()
    print("x", end="")
    capture.stop()
    assert heard == ["x"]
    assert written(streams[0]) == "xecho"


def test_two_captures_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = own_streams(monkeypatch)
    first: list[str] = []
    second: list[str] = []
    one, two = Capture(lambda _, text: first.append(text)), Capture(lambda _, text: second.append(text))
    one.start()
    two.start()
    print("a", end="")
    one.stop()
    print("b", end="")
    two.stop()
    print("c", end="")
    assert (first, second) == (["a"], ["a", "b"])
    assert written(streams[0]) == "abc"


def test_streams_that_cannot_be_wrapped_or_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fixed:
        __slots__ = ()

        def write(self, text: str) -> int:
            return len(text)

    monkeypatch.setattr(sys, "stdout", Fixed())
    monkeypatch.setattr(sys, "stderr", None)
    capture = Capture(lambda stream, text: None)
    capture.start()
    print("fine")
    capture.stop()
    assert isinstance(sys.stdout, Fixed)


def test_escapes_and_carriage_returns_are_kept_as_they_are(tmp_path: Path) -> None:
    text = "\x1b[31mred\x1b[0m\r 50%\r100%\n\x00é😀"
    done = run_script(START + f"sys.stdout.write({text!r}); sys.stderr.write('e\\n')", tmp_path)
    assert done.stdout == text.replace("\r", "\n")  # universal newlines of subprocess
    assert printed(log_of(tmp_path), 1) == text
    assert printed(log_of(tmp_path), 0) == "e\n"


def test_half_a_surrogate_pair_does_not_spoil_the_record(tmp_path: Path) -> None:
    script = START + "sys.stdout.reconfigure(errors='replace'); print('a\\ud800b')"
    run_script(script, tmp_path)
    assert printed(log_of(tmp_path), 1).startswith("a")
    assert printed(log_of(tmp_path), 1).endswith("b\n")


def test_console_off(tmp_path: Path) -> None:
    run_script(START.replace("'silent'", "'console': 'off', 'silent'") + "print('x')", tmp_path)
    assert printed(log_of(tmp_path)) == ""


def test_prints_of_threads_and_after_the_end(tmp_path: Path) -> None:
    script = START + (
        "import threading\n"
        "def work(n): [print(f'{n}:{i}\\n', end='') for i in range(100)]\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "run.finish(); print('after')\n"
    )
    done = run_script(script, tmp_path)
    assert sorted(printed(log_of(tmp_path), 1).splitlines()) == sorted(f"{n}:{i}" for n in range(8) for i in range(100))
    assert done.stdout.endswith("after\n")


def test_write_logs(tmp_path: Path) -> None:
    run_script(
        START + "run.write_logs('one'); run.write_logs('two\\n'); run.finish(); run.write_logs('late')", tmp_path
    )
    assert [record.line for record in of_kind(log_of(tmp_path), "output_logger")] == ["one\n", "two\n"]


def test_a_stream_put_over_the_same_buffer_is_heard(tmp_path: Path) -> None:
    script = START + (
        "import io, time\n"
        "print('before', flush=True)\n"
        "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8', write_through=True)\n"
        "time.sleep(1.2)\n"
        "print('after')\n"
    )
    assert run_script(script, tmp_path).stdout == "before\nafter\n"
    assert printed(log_of(tmp_path), 1) == "before\nafter\n"


REDIRECT = START.replace("'silent': True", "'silent': True, 'console': 'redirect'")


def test_redirect_hears_children_and_c(tmp_path: Path) -> None:
    script = REDIRECT + (
        "import os, subprocess, ctypes\n"
        "print('python')\n"
        "sys.stdout.flush()\n"
        "subprocess.run(['sh', '-c', 'echo child; echo error >&2'])\n"
        "os.write(1, b'descriptor \\xc3')\n"
        "os.write(1, b'\\xa9\\n')\n"
        "ctypes.CDLL(None).puts(b'from c')\n"
        "run.finish()\n"
        "print('over')\n"
    )
    done = run_script(script, tmp_path)
    assert done.stdout == "python\nchild\ndescriptor é\nfrom c\nover\n"
    assert done.stderr == "error\n"
    assert printed(log_of(tmp_path), 1) == "python\nchild\ndescriptor é\nfrom c\n"
    assert printed(log_of(tmp_path), 0) == "error\n"


def test_redirect_hears_the_traceback(tmp_path: Path) -> None:
    done = run_script(REDIRECT + "raise RuntimeError('boom')", tmp_path, status=1)
    assert done.stderr.count("RuntimeError: boom") == 1
    assert printed(log_of(tmp_path), 0).count("RuntimeError: boom") == 1


def test_redirect_does_not_wait_for_children_that_stay(tmp_path: Path) -> None:
    script = REDIRECT + (
        "import subprocess\nchild = subprocess.Popen(['sleep', '300'])\nprint('x')\nrun.finish()\nchild.kill()\n"
    )
    run_script(script, tmp_path)
    assert printed(log_of(tmp_path), 1) == "x\n"
