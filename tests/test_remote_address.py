"""What is an address and what a local path; and words that a shell takes as they are."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leet.remote.address import Address, BadAddress, parse, quoted, quoted_path

SHELLS = [
    pytest.param(command, id=" ".join(command))
    for command in (["sh"], ["busybox", "sh"], ["bash", "--posix"], ["dash"])
    if shutil.which(command[0])
]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("box:runs/wandb", Address("box", "runs/wandb")),
        ("me@box:/data", Address("box", "/data", "me")),
        ("box:", Address("box", "")),
        ("box:a:b", Address("box", "a:b")),
        ("box:~ann/runs", Address("box", "~ann/runs")),
        ("[::1]:/data", Address("::1", "/data")),
        ("me@[fe80::1%eth0]:runs", Address("fe80::1%eth0", "runs", "me")),
        ("ssh://box", Address("box", "")),
        ("ssh://me@box:2222/data/a%20b", Address("box", "/data/a b", "me", 2222)),
        ("ssh://box/~/runs", Address("box", "~/runs")),
        ("ssh://[::1]:22/x", Address("::1", "/x", "", 22)),
        ("box:line\nbreak", Address("box", "line\nbreak")),
    ],
)
def test_addresses(text: str, wanted: Address) -> None:
    assert parse(text) == wanted


@pytest.mark.parametrize("text", ["runs", "./a:b", "dir/a:b", "/a:b", ":x", "", "a/b:c@d:e", "[::1]", "::1", "x@:y"])
def test_local_paths(text: str) -> None:
    assert parse(text) is None


def test_a_local_file_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse("run:1.wandb") == Address("run", "1.wandb")
    Path("run:1.wandb").touch()
    assert parse("run:1.wandb") is None


@pytest.mark.parametrize(
    "text", ["-oProxyCommand=x:y", "-l@box:x", "ssh://", "ssh://box:99999/x", "a b:c", "box:a\0b", "ssh://-x/y"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(BadAddress):
        parse(text)


@given(st.from_regex(r"([a-z]{1,5}@)?[a-z]{2,5}:[a-z~/.:]{0,9}", fullmatch=True))
def test_an_address_reads_back(text: str) -> None:
    address = parse(text)
    assert address is not None
    assert parse(str(address)) == address


def words_of(shell: list[str], words: list[str], home: str = "/home/of/me") -> list[bytes]:
    """The words that a shell makes of its code."""
    code = "for w in " + " ".join(words) + "; do printf '%s\\0' \"$w\"; done\n"
    done = subprocess.run(
        shell, input=os.fsencode(code), capture_output=True, check=True, env={**os.environ, "HOME": home}
    )
    return done.stdout.split(b"\0")[:-1]


TEXT = st.binary(max_size=20).map(lambda raw: os.fsdecode(raw.replace(b"\0", b"0")))
NASTY = ["$(id)", "`id`", "a'b\"c", "\\", "a\nb", "-rf", "*", "~", "$HOME", "ü ☃", "#x", ";", "&&", "!!", "\t", "'"]


@pytest.mark.parametrize("shell", SHELLS)
@given(st.lists(TEXT, min_size=1, max_size=30))
@example(NASTY)
def test_quoted_words_come_out_as_they_were(shell: list[str], texts: list[str]) -> None:
    assert words_of(shell, [quoted(text) for text in texts]) == [os.fsencode(text) for text in texts]


@pytest.mark.parametrize("shell", SHELLS)
def test_paths_are_never_options_and_know_homes(shell: list[str]) -> None:
    me = pwd.getpwuid(os.getuid())
    paths = {
        "-x": "./-x",
        "/-x": "/-x",
        "~": "/home/of/me",
        "~/a b": "/home/of/me/a b",
        f"~{me.pw_name}/$x": f"{me.pw_dir}/$x",
        "a~b": "./a~b",
        "~'/x": "./~'/x",
        "./y": "././y",
    }
    assert words_of(shell, [quoted_path(path) for path in paths]) == [os.fsencode(word) for word in paths.values()]
