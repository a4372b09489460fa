"""Questions and answers over the pipe of a shell: any bytes, any noise around them, any tools at the far end."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ssh_server import SshServer, serving

from leet.remote import shell as shell_module
from leet.remote.address import Address, parse, quoted_path
from leet.remote.listing import Listing, NoRemoteRun, list_runs, parse_entries
from leet.remote.remote_file import Gone, ask_pieces, by_our_clock
from leet.remote.shell import Lost, Shell, explain

NOISE = "printf 'Welcome!\\n\\nlast login: never\\nabc end\\n'; printf '\\0\\377'; echo oops >&2"
NO_BUSYBOX = pytest.mark.skipif(shutil.which("busybox") is None, reason="busybox is not installed here")


def tools(directory: Path, *left_out: str) -> Path:
    """A directory with the programs of BusyBox, and no others."""
    directory.mkdir()
    for name in subprocess.run(["busybox", "--list"], capture_output=True, text=True, check=True).stdout.split():
        if name not in left_out:
            (directory / name).symlink_to(shutil.which("busybox") or "")
    return directory


def far_sides(directory: Path) -> dict[str, list[str]]:
    """Settings of servers, by what is at their far end."""
    sides = {
        "the usual": [],
        "noise": [f'ForceCommand {NOISE}; exec sh -c "$SSH_ORIGINAL_COMMAND"'],
    }
    if busybox := shutil.which("busybox"):
        for name, left_out in (("busybox", ()), ("busybox without stat and head", ("stat", "head"))):
            path = tools(directory / name.replace(" ", "-"), *left_out)
            sides[name] = [f'ForceCommand PATH={path}; export PATH; exec {busybox} sh -c "$SSH_ORIGINAL_COMMAND"']
    return sides


@pytest.fixture(
    scope="module",
    params=[
        "the usual",
        "noise",
        pytest.param("busybox", marks=NO_BUSYBOX),
        pytest.param("busybox without stat and head", marks=NO_BUSYBOX),
    ],
)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    directory = tmp_path_factory.mktemp("ssh")
    with serving(directory / "server", *far_sides(directory)[request.param]) as running:
        yield running


@pytest.fixture(scope="module")
def shell(server: SshServer) -> Iterator[Shell]:
    connected = Shell.connect(Address("box", ""), environ={**os.environ, "LEET_SSH": server.command()})
    yield connected
    connected.close()


@given(data=st.binary(max_size=20_000), offset=st.integers(0, 21_000), length=st.integers(0, 21_000))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_range_of_any_bytes(shell: Shell, tmp_path: Path, data: bytes, offset: int, length: int) -> None:
    file = tmp_path / "run-x.wandb"
    file.write_bytes(data)
    (piece,) = ask_pieces(shell, str(file), (offset, length))
    assert piece.data == data[offset : offset + length]
    assert piece.size == len(data)
    assert piece.inode == str(file.stat().st_ino)
    assert abs(piece.modified - file.stat().st_mtime) < 3


@pytest.mark.parametrize(
    "name",
    ["$(touch x)", "`id`", 'it\'s "so"', "a\nb\n", "-rf", "back\\slash", "ü☃", os.fsdecode(b"\xff\xfe"), "~", "*"],
)
def test_names_of_all_kinds(shell: Shell, tmp_path: Path, name: str) -> None:
    project = tmp_path / name
    for run in ("run-20250101_000000-a", "offline-run-20250301_000000-c", "run-20250201_000000-b"):
        log = project / "wandb" / run / f"run-{name}-{run[-1]}.wandb"
        log.parent.mkdir(parents=True)
        log.write_bytes(run.encode())
    found = list_runs(shell, Address("box", str(project)))
    assert [entry.directory[-1] for entry in found.runs] == ["c", "b", "a"]
    for entry in found.runs:
        (piece,) = ask_pieces(shell, entry.path, (0, 100))
        assert piece.data == Path(entry.path).read_bytes()
        assert (entry.size, entry.inode) == (piece.size, piece.inode)


def listed(shell: Shell, path: Path | str) -> Listing:
    return list_runs(shell, Address("box", str(path)))


def test_what_a_path_means(shell: Shell, tmp_path: Path) -> None:
    wandb = tmp_path / "project" / "wandb"
    for run in ("run-20250101_000000-a", "run-20250201_000000-b"):
        (wandb / run).mkdir(parents=True)
        (wandb / run / f"run-{run[-1]}.wandb").write_bytes(b"x")
    (wandb / "latest-run").symlink_to("run-20250101_000000-a")
    log = wandb / "run-20250201_000000-b" / "run-b.wandb"
    for path in (wandb, wandb.parent, f"{wandb}/"):
        found = listed(shell, path)
        assert [entry.directory[-1] for entry in found.runs] == ["a", "b"]
        assert found.directory == str(wandb)
    for path in (log, log.parent):
        found = listed(shell, path)
        assert [entry.path for entry in found.runs] == [str(log)]
        assert not found.directory
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "wandb").symlink_to(wandb)
    assert len(listed(shell, elsewhere).runs) == 2


def test_a_recording_of_the_machine_comes_last(shell: Shell, tmp_path: Path) -> None:
    wandb = tmp_path / "wandb"
    for run in ("run-20250101_000000-a", "offline-run-20250201_000000-monitor-a1b2c3d4"):
        (wandb / run).mkdir(parents=True)
        (wandb / run / f"run-{run.partition('000000-')[2]}.wandb").write_bytes(b"x")
    assert [entry.time[:6] for entry in listed(shell, tmp_path).runs] == ["202501", "202502"]


def test_many_runs_come_in_one_answer(shell: Shell, tmp_path: Path) -> None:
    for number in range(250):
        directory = tmp_path / "wandb" / f"run-20250101_{number:06d}-r{number}"
        directory.mkdir(parents=True)
        (directory / f"run-r{number}.wandb").write_bytes(b"x" * number)
    assert [entry.size for entry in listed(shell, tmp_path).runs] == list(range(250))[::-1]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nothing", "no such file or directory"),
        ("notes.txt", "not a run log"),
        ("two", "holds 2 logs; name one of them"),
    ],
)
def test_what_is_no_run(shell: Shell, tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "notes.txt").touch()
    (tmp_path / "two").mkdir()
    for name in "ab":
        (tmp_path / "two" / f"run-{name}.wandb").touch()
    with pytest.raises(NoRemoteRun, match=said):
        listed(shell, tmp_path / path)


def test_a_directory_without_runs(shell: Shell, tmp_path: Path) -> None:
    assert listed(shell, tmp_path) == Listing((), "", str(tmp_path))


def test_files_that_cannot_be_read(shell: Shell, tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "directory"), (tmp_path / "no", "missing"), (Path(os.devnull), "irregular")):
        with pytest.raises(Gone, match=reason):
            ask_pieces(shell, str(path), (0, 10))


def test_many_questions_go_together(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "run-x.wandb"
    file.write_bytes(bytes(range(256)) * 4000)
    pieces = ask_pieces(shell, str(file), *((i * 1000, 5000) for i in range(150)))
    assert [piece.data for piece in pieces] == [file.read_bytes()[i * 1000 : i * 1000 + 5000] for i in range(150)]


@given(st.lists(st.binary(max_size=60), max_size=4), st.binary(max_size=300))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_of_any_kind_is_passed_over(tmp_path: Path, noise: list[bytes], body: bytes) -> None:
    """A stand-in for ssh that starts a shell here, and prints what start-up files may print."""
    (tmp_path / "noise").write_bytes(b"\n".join(noise))
    file = tmp_path / "body"
    file.write_bytes(body)
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\ncat {shlex.quote(str(tmp_path / 'noise'))}\nexec sh\n")
    program.chmod(0o755)
    shell = Shell.connect(Address("box", ""), environ={**os.environ, "LEET_SSH": shlex.quote(str(program))})
    try:
        (piece,) = ask_pieces(shell, str(file), (0, 1000))
        assert piece.data == body
    finally:
        shell.close()


def test_a_host_that_falls_silent_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_module, "SILENCE", 0.5)
    program = tmp_path / "ssh"
    program.write_text("#!/bin/sh\nexec sh\n")
    program.chmod(0o755)
    shell = Shell.connect(Address("box", ""), environ={**os.environ, "LEET_SSH": str(program)})
    with pytest.raises(Lost, match="no answer"):
        shell.ask(lambda mark: "sleep 30")
    shell.close()


def refusal(command: str, *, quiet: bool = False) -> Lost:
    with pytest.raises(Lost) as caught:
        Shell.connect(Address("box", ""), quiet=quiet, environ={**os.environ, "LEET_SSH": command})
    return caught.value


def test_why_there_is_no_connection(tmp_path: Path) -> None:
    assert "cannot be started" in str(refusal("/no/such/ssh"))
    assert "closing quotation" in str(refusal("ssh 'oops"))
    with serving(tmp_path / "server") as server:
        other = server.directory / "other_key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
        wrong = refusal(server.command().replace("user_key", "other_key"), quiet=True)
        assert wrong.refused
        assert "Permission denied" in str(wrong)
        (server.directory / "known_hosts").write_text("")
        unknown = refusal(server.command(), quiet=True)
        assert unknown.refused
        assert "Host key verification failed" in str(unknown)
        server.stop()
        assert "Connection refused" in str(refusal(server.command(), quiet=True))


def test_last_words() -> None:
    lost = explain(["banner", "me@box: Permission denied (publickey).", "Connection closed"], 255)
    assert lost.refused
    assert explain([], 127).args[0].startswith("there is no POSIX shell")
    assert str(explain(["ssh: Could not resolve hostname box: Name or service not known"], 255)).startswith("Could not")


def test_lists_that_do_not_agree_are_asked_for_again() -> None:
    assert parse_entries(b"./a\0./b\0\0" + b"1 2 3\n\0", "/r", 0) is None
    assert parse_entries(b"./a\0\0" + b"1 two\n\0", "/r", 0) is None
    (entry,) = parse_entries(b"./a\nb\0\0" + b"1 2 3\n\0", "/r", 0) or []
    assert (entry.path, entry.size, entry.inode, entry.modified) == ("/r/a\nb", 1, "2", 3.0)


def test_clocks_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1000.0)
    assert by_our_clock(500.0, 600.0) == 900.0
    assert by_our_clock(500.0, 999.0) == 500.0
    assert by_our_clock(0.0, 600.0) == 0.0


def test_home_directories(shell: Shell) -> None:
    address = parse("box:~")
    assert address is not None
    body = shell.ask(
        lambda mark: f"printf '\\n%s x\\n' {mark}; cd {quoted_path('~')}; pwd; printf '\\n%s end\\n' {mark}"
    ).body
    assert (
        body.strip()
        == shell.ask(lambda mark: f"printf '\\n%s x\\n' {mark}; cd; pwd; printf '\\n%s end\\n' {mark}").body.strip()
    )
