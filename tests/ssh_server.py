"""A real OpenSSH server on a high port of loopback, and a line to it that can be made slow or cut."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

SSHD = shutil.which("sshd", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]))


def missing() -> str:
    """Why no server can be started here; empty where one can."""
    if SSHD is None:
        return "there is no sshd here"
    for program in ("ssh", "ssh-keygen"):
        if shutil.which(program) is None:
            return f"there is no {program} here"
    if os.getuid() == 0:
        # As root, sshd wants an empty directory to lock itself into; it makes none.
        try:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        except OSError as error:
            return f"sshd needs /run/sshd: {error}"
    return ""


class SshServer:
    """sshd with keys and settings of its own in `directory`; whoever runs the tests may log in."""

    def __init__(self, directory: Path, *settings: str, passphrase: str = "") -> None:
        self.directory = directory
        for name, phrase in (("host_key", ""), ("user_key", passphrase)):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", phrase, "-f", str(directory / name)], check=True)
        shutil.copy(directory / "user_key.pub", directory / "authorized_keys")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        host_key = (directory / "host_key.pub").read_text().split()
        (directory / "known_hosts").write_text(f"leet-test {host_key[0]} {host_key[1]}\n")
        self._config = directory / "sshd_config"
        lines = [
            *settings,
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {directory / 'host_key'}",
            f"AuthorizedKeysFile {directory / 'authorized_keys'}",
            f"PidFile {directory / 'pid'}",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
        ]
        self._config.write_text("\n".join(lines) + "\n")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Listen; connections that are cut can be made again."""
        assert SSHD is not None
        self._process = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", str(self._config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.directory / "log").open("ab"),
        )
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 0.2):
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        said = (self.directory / "log").read_text(errors="replace").strip().splitlines()
        pytest.skip(f"sshd does not start: {said[-1] if said else 'it says nothing'}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def command(self, *options: str, port: int | None = None) -> str:
        """The value of $LEET_SSH that leads here, whatever the host is called."""
        words = [
            *("ssh", "-F", "none", "-i", str(self.directory / "user_key"), "-o", "IdentitiesOnly=yes"),
            *("-o", "IdentityAgent=none", "-o", "HostName=127.0.0.1", "-o", "HostKeyAlias=leet-test"),
            *("-o", f"UserKnownHostsFile={self.directory / 'known_hosts'}", "-p", str(port or self.port)),
            *options,
        ]
        return shlex.join(words)


class Line:
    """A relay to a port of loopback: `rate` bytes a second towards the client, and it can be cut or go silent."""

    def __init__(self, target: int, rate: float | None = None) -> None:
        self.rate = rate
        self.carried = 0
        """Bytes that have gone to the client."""
        self.silent = threading.Event()
        self.open = True
        """New connections are taken."""
        self._target = target
        self._sockets: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections, without a word."""
        for end in self._sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def close(self) -> None:
        self.open = False
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            if not self.open:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            self._sockets += [client, server]
            threading.Thread(target=self._carry, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._carry, args=(server, client, True), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, slow: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(4096 if slow and self.rate else 1 << 16):
                while self.silent.is_set():
                    time.sleep(0.02)
                if slow:
                    if self.rate:
                        time.sleep(len(data) / self.rate)
                    self.carried += len(data)
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def serving(directory: Path, *settings: str, passphrase: str = "") -> Iterator[SshServer]:
    """A server for a while; the test is skipped where none can be."""
    if reason := missing():
        pytest.skip(reason)
    directory.mkdir(parents=True, exist_ok=True)
    server = SshServer(directory, *settings, passphrase=passphrase)
    try:
        yield server
    finally:
        server.stop()
