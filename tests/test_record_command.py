"""`leet record`, started as people start it: in pipes, and in a real pseudo-terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from recorded import end, environment, log_of, of_kind, printed, records_of, run_script

from leet.reading import records

RECORD = [sys.executable, "-m", "recorder"]


def record(directory: Path, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*RECORD, *arguments], cwd=directory, env=environment(), input=data, capture_output=True, timeout=60
    )


def await_line(stream: IO[bytes], wanted: bytes) -> None:
    """Read up to a line with `wanted` in it."""
    said: list[bytes] = []
    while not said or wanted not in said[-1]:
        said.append(stream.readline())
        assert said[-1], said


def exit_code(directory: Path) -> int:
    assert records.kind(records_of(log_of(directory))[-1]) == "exit"
    return int(of_kind(log_of(directory), "exit")[0].exit_code)


def test_pipes_stay_apart_and_untouched(tmp_path: Path) -> None:
    script = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 500); sys.stderr.write('\\x1b[31merr\\r\\n')"
    done = record(tmp_path, "--", sys.executable, "-c", script)
    assert done.returncode == 0
    assert done.stdout == bytes(range(256)) * 500
    assert done.stderr == b"\x1b[31merr\r\n"
    assert printed(log_of(tmp_path), 1) == (bytes(range(256)) * 500).decode("utf-8", "replace")
    assert printed(log_of(tmp_path), 0) == "\x1b[31merr\r\n"


def test_the_machine_alone_does_not_pass_for_the_latest_run(tmp_path: Path) -> None:
    record(tmp_path, "--", "true")
    training = os.readlink(tmp_path / "wandb" / "latest-run")
    record(tmp_path, "--for", "0.2s")
    (machine,) = tmp_path.glob("wandb/offline-run-*-monitor-*")
    assert os.readlink(tmp_path / "wandb" / "latest-run") == training
    assert of_kind(next(machine.glob("*.wandb")), "run")[0].job_type == "monitor"


def test_a_program_that_records_itself_is_told_of_the_two_runs(tmp_path: Path) -> None:
    script = "import recorder; recorder.init(); recorder.init(); recorder.finish()"
    done = record(tmp_path, "--", sys.executable, "-c", script)
    assert done.stderr.count(b"started without it, this run keeps both") == 1
    assert len(list(tmp_path.glob("wandb/offline-run-*"))) == 2


def test_a_character_in_two_writes_is_one(tmp_path: Path) -> None:
    script = "import os, time\nfor b in 'é😀'.encode(): os.write(1, bytes([b])); time.sleep(.02)"
    record(tmp_path, "--", sys.executable, "-c", script)
    assert printed(log_of(tmp_path), 1) == "é😀"


def test_stdin_reaches_the_command(tmp_path: Path) -> None:
    assert record(tmp_path, "--", "cat", data=b"a\nb").stdout == b"a\nb"


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137), ("kill -TERM $$", 143)]
)
def test_exit_status(script: str, status: int, tmp_path: Path) -> None:
    assert record(tmp_path, "--", "sh", "-c", script).returncode == status
    assert exit_code(tmp_path) == status


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    done = record(tmp_path, "--", "no-such-command")
    assert done.returncode == 127
    assert done.stderr == b"leet record: no-such-command: command not found\n"
    assert not list(tmp_path.iterdir())
    assert record(tmp_path, "--", "/etc/passwd").returncode == 126


def test_the_options_are_in_the_run(tmp_path: Path) -> None:
    arguments = ["--name", "n", "--project", "p", "--tags", "a, b", "--dir", "deep", "--interval", "0.2"]
    record(tmp_path, *arguments, "--disk-path", "/", "--disk-path", "/tmp", "--", "sleep", "1.5")
    log = log_of(tmp_path / "deep")
    (run,) = of_kind(log, "run")
    assert (run.display_name, run.project, list(run.tags)) == ("n", "p", ["a", "b"])
    keys = {item.key for sample in of_kind(log, "stats") for item in sample.item}
    assert {"disk./.usageGB", "disk./tmp.usageGB", "memory_percent", "proc.memory.rssMB"} <= keys
    assert len(of_kind(log, "stats")) > 2
    first = of_kind(log, "environment")[0]
    assert (first.program, list(first.args)) == ("sleep", ["1.5"])


def test_a_command_that_ends_at_once_has_the_machine_and_a_sample(tmp_path: Path) -> None:
    record(tmp_path, "--", "true")
    log = log_of(tmp_path)
    assert any(found.memory.total > 0 and found.cpu_count_logical > 0 for found in of_kind(log, "environment"))
    assert any("memory" in item.key for stats in of_kind(log, "stats") for item in stats.item)


def test_the_process_tree_is_measured(tmp_path: Path) -> None:
    script = f"{sys.executable} -c 'x = bytearray(200 * 2**20); import time; time.sleep(2)' & wait"
    record(tmp_path, "--interval", "0.2", "--", "sh", "-c", script)
    sizes = [
        float(i.value_json) for s in of_kind(log_of(tmp_path), "stats") for i in s.item if i.key == "proc.memory.rssMB"
    ]
    assert max(sizes) > 190


def test_without_a_command_it_records_for_as_long_as_asked(tmp_path: Path) -> None:
    assert record(tmp_path, "--for", "1s", "--interval", "0.2").returncode == 0
    assert exit_code(tmp_path) == 0
    assert of_kind(log_of(tmp_path), "stats")


def test_time_is_up_for_a_command(tmp_path: Path) -> None:
    assert record(tmp_path, "--for", "0.5", "--", "sleep", "60").returncode == 143


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_ends_recording_without_a_command(number: int, status: int, tmp_path: Path) -> None:
    process = subprocess.Popen(RECORD, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        await_line(process.stderr, b"ctrl+c")
        process.send_signal(number)
        assert process.wait(20) == status
        process.stderr.close()
    finally:
        end(process)
    assert exit_code(tmp_path) == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1])
def test_signals_reach_the_command(number: int, tmp_path: Path) -> None:
    script = (
        "import signal, sys, time\n"
        f"signal.signal({int(number)}, lambda *_: (print('got it', flush=True), sys.exit(9)))\n"
        "print('ready', flush=True)\ntime.sleep(60)"
    )
    process = subprocess.Popen(
        [*RECORD, "--", sys.executable, "-c", script], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(20) == 9
        assert process.stdout.read() == b"got it\n"
        process.stdout.close()
    finally:
        end(process)
    assert exit_code(tmp_path) == 9


@pytest.mark.parametrize(
    ("command", "wanted"),
    [([], b"ctrl+c"), (["--", "sh", "-c", "echo begun; while :; do sleep 0.1; done"], b"begun")],
    ids=["machine", "command"],
)
def test_under_nohup_a_lost_line_ends_nothing(command: list[str], wanted: bytes, tmp_path: Path) -> None:
    process = subprocess.Popen(
        ["nohup", *RECORD, *command], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        assert process.stdout is not None
        await_line(process.stdout, wanted)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
        process.stdout.close()
    finally:
        end(process)
    assert exit_code(tmp_path) == 128 + signal.SIGTERM


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`leet record -- yes | head -1`: the command gets SIGPIPE, as it would without us."""
    pipeline = f"{sys.executable} -m recorder -- yes | head -1"
    done = subprocess.run(["sh", "-c", pipeline], cwd=tmp_path, env=environment(), capture_output=True, timeout=60)
    assert done.stdout == b"y\n"
    assert exit_code(tmp_path) == 128 + signal.SIGPIPE


def test_a_process_left_in_the_background_holds_nothing_up(tmp_path: Path) -> None:
    done = record(tmp_path, "--", "sh", "-c", "sleep 20 & echo $!")
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(done.stdout), signal.SIGTERM)
    assert done.returncode == 0
    assert of_kind(log_of(tmp_path), "exit")[0].runtime < 15


def test_wrong_usage(tmp_path: Path) -> None:
    for arguments in (["--for", "soon"], ["--interval", "0.01"], ["--nonsense"], ["--tags", ","], ["--project", "a/b"]):
        done = record(tmp_path, *arguments)
        assert done.returncode == 2, arguments
        assert done.stderr
    assert not list(tmp_path.iterdir())


def test_sources_are_listed(tmp_path: Path) -> None:
    lines = record(tmp_path, "--list-sources").stdout.decode().splitlines()
    assert lines[0].startswith("host")
    assert " found: " in lines[0]
    assert any(line.startswith("nvidia") for line in lines)
    assert not list(tmp_path.iterdir())


def test_a_command_that_is_nothing(tmp_path: Path) -> None:
    done = record(tmp_path, "--")
    assert done.returncode == 2
    assert b"no COMMAND after --" in done.stderr
    done = record(tmp_path, "--", "")
    assert (done.returncode, done.stderr) == (127, b"leet record: '': command not found\n")
    assert not list(tmp_path.iterdir())
    assert record(tmp_path, "--", "echo", "--").stdout == b"--\n"


def test_disabled_records_nothing_and_runs_the_command(tmp_path: Path) -> None:
    for command, status in (["--", "sh", "-c", "echo hi; exit 4"], 4), ([], 0):
        done = subprocess.run(
            [*RECORD, *command],
            cwd=tmp_path,
            env=environment({"WANDB_MODE": "disabled"}),
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == status
        assert done.stdout == (b"hi\n" if command else b"")
        assert (b"nothing is recorded" in done.stderr) == (not command)  # stderr is the command's
    assert not list(tmp_path.iterdir())


def test_a_duration_beyond_every_clock(tmp_path: Path) -> None:
    arguments = ["--for", "99999999999999999999d", "--interval", "99999999999999999999"]
    done = record(tmp_path, *arguments, "--", "sh", "-c", "sleep 0.3; exit 3")
    assert (done.returncode, done.stderr) == (3, b"")
    assert of_kind(log_of(tmp_path), "stats")


def test_a_current_directory_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        [*RECORD, "--", "sh", "-c", "echo x; exit 5"],
        cwd=gone,
        env=environment({"TMPDIR": str(tmp_path)}),
        capture_output=True,
        timeout=60,
        preexec_fn=lambda: os.rmdir(gone),
    )
    assert (done.returncode, done.stdout) == (5, b"x\n")
    assert done.stderr.startswith(b"recorder: WARNING cannot write to")
    assert b"Traceback" not in done.stderr
    assert exit_code(tmp_path) == 5


def test_a_recording_that_cannot_begin_leaves_the_command_alone(tmp_path: Path) -> None:
    script = (
        "import recorder.starting, recorder.command\n"
        "def start(*args, **more): raise RuntimeError('broken')\n"
        "recorder.starting.start = start\n"
        "raise SystemExit(recorder.command.main(['--', 'sh', '-c', 'echo hi; exit 3']))"
    )
    done = run_script(script, tmp_path, status=3)
    assert done.stdout == "hi\n"
    assert done.stderr == "recorder: WARNING nothing is recorded: broken\n"


@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]])
def test_closed_streams(closed: list[int], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*RECORD, "--", "sh", "-c", "echo out; echo err >&2; exit 5"],
        cwd=tmp_path,
        env=environment(),
        preexec_fn=lambda: [os.close(fd) for fd in closed],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.wait(60) == 5
    assert exit_code(tmp_path) == 5
    assert (printed(log_of(tmp_path), 1), printed(log_of(tmp_path), 0)) == ("out\n", "err\n")


def test_few_open_files_are_said_in_one_line(tmp_path: Path) -> None:
    """With a few more the command runs, and a line says what could not be recorded; Python itself needs five."""
    said = []
    for limit in range(6, 24, 2):
        done = subprocess.run(
            ["sh", "-c", f"ulimit -n {limit}; exec {sys.executable} -m recorder -- sh -c 'exit 5'"],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            timeout=60,
        )
        assert done.returncode in (5, 126), (limit, done.stderr)
        assert b"Traceback" not in done.stderr, limit
        assert done.returncode == 5 or done.stderr.count(b"\n") == 1
        assert done.returncode == 5 or b"ulimit -n" in done.stderr
        said.append(done.returncode)
    assert said[0] == 126
    assert said[-1] == 5


def test_messages_are_short_and_begin_a_line_of_their_own(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    screen = terminal(*RECORD, "--for", "1h30m", "--", "printf", "%s", "50 %", "x" * 500)
    assert screen.wait() == 0
    shown = screen.screen.decode().replace("\r", "")
    assert "x\nrecorder: run printf %s '50 %' xxx" in shown
    assert max(len(line) for line in shown.splitlines() if "recorder: run" in line) < 200 + len(str(tmp_path))
    screen = terminal(*RECORD, "--for", "1.5m")
    screen.wait_for(b"it ends after 1 min 30 s")
    screen.press(b"\x03")
    assert screen.wait() == 0


class Terminal:
    """A process in a pseudo-terminal of its own, as a person has it."""

    def __init__(self, command: list[str], directory: Path, size: tuple[int, int] = (30, 100)) -> None:
        pid, self.fd = pty.fork()
        if pid == 0:
            os.chdir(directory)
            os.execve(command[0], command, environment())
        self.pid = pid
        self.screen = b""
        self.resize(size)

    def resize(self, size: tuple[int, int]) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def press(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def wait_for(self, wanted: bytes | Callable[[], bool], seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not (wanted in self.screen if isinstance(wanted, bytes) else wanted()):
            assert time.monotonic() < deadline, self.screen
            self._read(0.05)

    def wait(self) -> int:
        """The exit status, after everything was read."""
        deadline = time.monotonic() + 60
        while self._read(1):
            assert time.monotonic() < deadline, self.screen
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = 0
        return status

    def _read(self, seconds: float) -> bool:
        if select.select([self.fd], [], [], seconds)[0]:
            with contextlib.suppress(OSError):
                data = os.read(self.fd, 65536)
                self.screen += data
                return bool(data)
            return False
        return True

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def open_terminal(*command: str) -> Terminal:
        opened.append(Terminal(list(command), tmp_path))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()


def test_a_terminal_stays_a_terminal(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    script = (
        "import os, sys, signal, time\n"
        "print([os.isatty(fd) for fd in (0, 1, 2)], tuple(os.get_terminal_size()), flush=True)\n"
        "resized = []\n"
        "signal.signal(signal.SIGWINCH, lambda *_: resized.append(os.get_terminal_size()))\n"
        "print('\\x1b[31mred\\x1b[0m', file=sys.stderr)\n"
        "print('said', input('? '))\n"
        "while not resized: time.sleep(0.01)  # a signal just before one long wait would wait for its end\n"
        "print('now', tuple(resized[-1]), flush=True)\n"
        "sys.exit(6)\n"
    )
    screen = terminal(*RECORD, "--", sys.executable, "-c", script)
    screen.wait_for(b"? ")
    assert b"[True, True, True] (100, 30)" in screen.screen
    assert b"\x1b[31mred\x1b[0m\r\n" in screen.screen
    screen.press(b"hello\r")
    screen.wait_for(b"said hello")
    assert screen.screen.count(b"hello") == 2  # echoed once, by the command's terminal
    screen.resize((40, 120))
    screen.wait_for(b"now (120, 40)")
    assert screen.wait() == 6
    assert "[True, True, True] (100, 30)\r\n" in printed(log_of(tmp_path), 1)
    assert "red" in printed(log_of(tmp_path), 1)
    assert exit_code(tmp_path) == 6


def test_ctrl_c_in_a_terminal_ends_command_and_run(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    script = "import time\nprint('ready', flush=True)\ntime.sleep(60)"
    screen = terminal(*RECORD, "--", sys.executable, "-c", script)
    screen.wait_for(b"ready")
    screen.wait_for(lambda: bool(list(tmp_path.glob("wandb/offline-*/run-*.wandb"))))
    screen.press(b"\x03")
    assert screen.wait() == 130
    assert b"KeyboardInterrupt" in screen.screen
    assert exit_code(tmp_path) == 130


def test_the_terminal_is_as_it_was(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    record_it = " ".join(RECORD)
    screen = terminal(
        "/bin/sh", "-c", f"stty -g; {record_it} -- sh -c 'stty raw -echo; echo x; kill -9 $$'; stty -g; echo end"
    )
    screen.wait_for(b"end")
    lines = [line for line in screen.screen.decode().replace("\r", "").splitlines() if line.count(":") > 20]
    assert len(lines) == 2
    assert lines[0] == lines[1]
    assert screen.wait() == 0


def test_ctrl_z_and_back_with_the_output_in_a_pipe(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    """A shell with job control, our stdout in a pipe: ctrl+z stops the whole job, `fg` goes on with it."""
    script = "import time\nprint('ready', flush=True)\nfor i in range(100): time.sleep(0.05)\nprint('done')"
    (tmp_path / "work.py").write_text(script)
    screen = terminal("/bin/bash", "--norc", "--noediting", "-i")
    screen.press(f"PS1='> '; {' '.join(RECORD)} -- {sys.executable} work.py | cat\r".encode())
    screen.wait_for(b"ready")
    screen.press(b"\x1a")
    screen.wait_for(b"Stopped")
    screen.press(b"fg\r")
    screen.wait_for(b"\ndone")
    screen.press(b"exit\r")
    screen.wait()
    assert exit_code(tmp_path) == 0


def test_ctrl_z_and_back_in_a_terminal(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    """A shell with job control: ctrl+z stops the command, then us, and `fg` goes on with both, keys included."""
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGCONT, lambda *_: print('gone on', flush=True))\n"
        "print('ready', flush=True)\nfor i in range(20): time.sleep(0.05)\nprint('got', input())"
    )
    (tmp_path / "work.py").write_text(script)
    screen = terminal("/bin/bash", "--norc", "--noediting", "-i")
    screen.press(f"PS1='> '; {' '.join(RECORD)} -- {sys.executable} work.py\r".encode())
    screen.wait_for(b"ready")
    screen.wait_for(lambda: bool(list(tmp_path.glob("wandb/offline-*/run-*.wandb"))))
    screen.press(b"\x1a")
    screen.wait_for(b"Stopped")
    screen.press(b"echo en''d\r")
    screen.wait_for(b"end")
    assert b"gone on" not in screen.screen
    screen.press(b"fg\r")
    screen.wait_for(b"gone on")
    screen.press(b"keys\r")
    screen.wait_for(b"got keys")
    screen.wait_for(b"is in")
    screen.press(b"exit\r")
    screen.wait()
    assert exit_code(tmp_path) == 0


def test_ctrl_z_where_nobody_could_go_on(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    script = "print('ready', flush=True); print('got', input())"
    screen = terminal(*RECORD, "--", sys.executable, "-c", script)
    screen.wait_for(b"ready")
    screen.press(b"\x1a")
    time.sleep(0.3)
    screen.press(b"keys\r")
    screen.wait_for(b"got keys")
    assert screen.wait() == 0


def test_ctrl_c_before_it_has_begun_is_no_traceback(tmp_path: Path) -> None:
    script = (
        "import builtins, runpy, sys\n"
        "load = builtins.__import__\n"
        "def interrupted(name, *more, **named):\n"
        "    if name == 'argparse': raise KeyboardInterrupt\n"
        "    return load(name, *more, **named)\n"
        "for module in ('leet', 'recorder'):\n"
        "    builtins.__import__ = interrupted\n"
        "    try: runpy.run_module(module, run_name='__main__', alter_sys=True)\n"
        "    except SystemExit as end: print(module, end.code)\n"
        "    finally: builtins.__import__ = load\n"
    )
    assert run_script(script, tmp_path).stdout == "leet 130\nrecorder 130\n"


def test_the_viewer_has_the_command_too(tmp_path: Path) -> None:
    script = "from leet.cli import main\nraise SystemExit(main(['record', '--', 'sh', '-c', 'echo hi; exit 3']))"
    assert run_script(script, tmp_path, status=3).stdout == "hi\n"
