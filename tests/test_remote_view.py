"""The whole program on a run of another machine, in a real terminal, over a real ssh."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from example_run import ExampleRun, trained
from ssh_server import Line, SshServer, serving
from terminals import viewer

from leet.remote.address import Address
from leet.remote.link import Link
from leet.tui.remote_link import link_part

ALTERNATE = b"\x1b[?1049h"
"""What takes the terminal for the screen."""


def test_a_run_of_another_machine(tmp_path: Path, server: SshServer) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    run.flush()
    with viewer(f"box:{run.log}", LEET_SSH=server.command()) as terminal:
        terminal.until(r"running · balmy-river-7 · step 4\b.* box ")
        run.train(2)
        run.flush()
        terminal.until(r"step 6\b")
        terminal.send("q")
        assert terminal.end() == 0
        assert b"Traceback" not in terminal.raw


def test_it_survives_a_lost_line(tmp_path: Path, server: SshServer) -> None:
    line = Line(server.port)
    run = ExampleRun(tmp_path)
    run.train(5)
    run.flush()
    with viewer(f"box:{run.log}", LEET_SSH=server.command(port=line.port)) as terminal:
        terminal.until(r"step 4\b")
        line.open = False
        line.cut()
        terminal.until(r"connection lost, \d+ s behind")
        run.train(2)
        run.flush()
        line.open = True
        terminal.until(r"step 6\b.* box \d")
        terminal.send("q")
        assert terminal.end() == 0
    line.close()


def test_a_lost_line_is_counted_among_many_runs_too(tmp_path: Path, server: SshServer) -> None:
    """Also while a run is highlighted that has ended, of which nothing is asked any more."""
    line = Line(server.port)
    trained(tmp_path)
    with viewer(f"box:{tmp_path}", LEET_SSH=server.command(port=line.port)) as terminal:
        terminal.until(r"finished · balmy-river-7 .* box\b")
        line.open = False
        line.cut()
        terminal.until(r"connection lost, \d+ s behind, again in [6-9] s", 120)
        left: list[int] = []
        for _ in range(300):
            left += [int(found) for found in re.findall(r"again in (\d+) s", terminal.text)]
            terminal.pump(0.1)
            if left and left[-1] <= 2:
                break
        assert len(set(left)) >= 4, left  # the list of runs itself is looked at every 5 s
        line.open = True
        terminal.until(r"(?s)\A(?!.*connection lost).*balmy-river-7 .* box\b")
        terminal.send("q")
        assert terminal.end() == 0
    line.close()


def test_ssh_asks_before_there_is_a_screen(tmp_path: Path) -> None:
    log = trained(tmp_path)
    with serving(tmp_path / "ssh", passphrase="open sesame") as server:
        line = Line(server.port)
        (server.directory / "known_hosts").write_text("")
        command = server.command("-o", "StrictHostKeyChecking=ask", port=line.port)
        with viewer(f"box:{log}", LEET_SSH=command) as terminal:
            terminal.until("continue connecting")
            assert ALTERNATE not in terminal.raw
            terminal.send("yes\n")
            terminal.until("passphrase for key")
            assert ALTERNATE not in terminal.raw
            terminal.send("open sesame\n")
            terminal.until("finished · balmy-river-7")
            assert ALTERNATE in terminal.raw
            written = len(terminal.raw)
            line.cut()
            terminal.until("asks for a password: q, and open it again")
            assert b"assphrase" not in terminal.raw[written:]
            terminal.send("q")
            assert terminal.end() == 0
        line.close()


def environ(ssh: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "LEET_SSH": ssh}


def leet(*arguments: str, ssh: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "leet", *arguments],
        env=environ(ssh),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "command",
    [["inspect"], ["inspect", "--summary", "--json"], ["export", "-m", "loss"], ["plot", "loss"]],
    ids=" ".join,
)
def test_commands_say_the_same_of_a_run_far_and_near(tmp_path: Path, server: SshServer, command: list[str]) -> None:
    log = trained(tmp_path)
    name, *options = command
    near = leet(name, str(log), *options, ssh="/no/ssh")
    far = leet(name, f"box:{log.parent}", *options, ssh=server.command())
    assert near.returncode == far.returncode == 0, far.stderr

    def said(text: str) -> str:
        # What a path is called, and how long ago something was, may differ, and times come in whole seconds.
        return re.sub(r'"(box:)?/[^"]*"|(?<=:\d\d)\.\d+Z?|(?<=:\d\d)Z|\d+ ?(s|min) ago', "…", text)

    assert said(near.stdout) == said(far.stdout)
    assert far.stderr == near.stderr


def test_a_summary_names_the_log_there(tmp_path: Path, server: SshServer) -> None:
    log = trained(tmp_path)
    told = leet("inspect", f"box:{log.parent}", "--summary", ssh=server.command()).stdout
    assert re.search(rf"^file +box:{re.escape(str(log))}$", told, re.MULTILINE)
    bad = tmp_path / "run-bad.wandb"
    bad.write_bytes(b"no log" * 99)
    for command in ("inspect", "plot", "export"):
        assert leet(command, f"box:{bad}", ssh=server.command()).stderr.startswith(f"leet {command}: box:{bad}: ")


def test_records_are_followed(tmp_path: Path, server: SshServer) -> None:
    run = ExampleRun(tmp_path)
    run.train(3)
    run.flush()
    with subprocess.Popen(
        [sys.executable, "-m", "leet", "inspect", "--json", "--follow", f"box:{run.log}"],
        env=environ(server.command()),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert any("history" in line for line in process.stdout)
        run.train(2)
        run.finish(3)
        rest = process.stdout.read()
        assert '"exit"' in rest
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("box:/no/such/run.wandb", "leet export: box:/no/such/run.wandb: no such file or directory"),
        ("-oProxyCommand=x@box:y", "a host or user cannot begin with a dash"),
    ],
)
def test_errors_are_one_line(server: SshServer, path: str, said: str) -> None:
    done = leet("export", "--", path, ssh=server.command())
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_without_ssh(tmp_path: Path) -> None:
    done = leet("export", "box:x.wandb", ssh="/no/ssh")
    assert done.returncode == 1
    assert done.stderr == "leet export: box: /no/ssh cannot be started (No such file or directory); install OpenSSH\n"


def test_what_the_status_line_says(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    link = Link(Address("box\x1b[31m", "x"))
    assert "connecting" in link_part(link).text
    link.heard(4096)
    link.fetched(100, 100)
    assert "\x1b" not in link_part(link).text
    assert link_part(link).text.endswith("4 KiB/s")
    now[0] = 110.0
    link.fetched(100, 300)
    assert link_part(link).text.endswith("0 B/s, 10 s behind")
    link.fetched(100, 300, seen=300)
    assert link_part(link).text.endswith("0 B/s")
    assert link_part(link, live=False).text.endswith("0 B/s")
    link.fetched(300, 300)
    assert not link_part(link, live=False).text.endswith("/s"), "of an ended run nothing more comes"
    now[0] = 400.0
    link.lost("timed out", 8.0)
    assert link_part(link).text.endswith("connection lost, 4 min behind, again in 8 s")
    link.lost("Permission denied", 8.0, refused=True)
    assert "asks for a password" in link_part(link).text
    link.gone("run-x.wandb: no such file or directory")
    assert link_part(link).text.endswith("no such file or directory")
