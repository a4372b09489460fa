"""Saved files: where they go in the run, by which name and with which policy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recorded import QUIET, log_of, of_kind, run_script

START = f"import os, recorder as wandb\nrun = wandb.init(project='p', settings={QUIET})\n"


def saved(directory: Path) -> list[tuple[str, int]]:
    """Path and policy (0 now, 1 end, 2 live) of every file that is recorded."""
    return [(item.path, item.policy) for record in of_kind(log_of(directory), "files") for item in record.files]


def make(directory: Path, *names: str) -> None:
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def test_files_are_linked_so_that_changes_are_uploaded(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "b.txt", "deep/er/c.txt")
    script = f"""{START}
print(run.save("a.txt"))
wandb.save("*.txt", policy="end")
wandb.save("deep/er/*", base_path="deep", policy="now")
open("a.txt", "w").write("later")
run.finish()
"""
    done = run_script(script, tmp_path)
    files = log_of(tmp_path).parent / "files"
    assert saved(tmp_path) == [("a.txt", 2), ("a.txt", 1), ("b.txt", 1), ("er/c.txt", 0)]
    assert str(files / "a.txt") in done.stdout
    assert (files / "a.txt").read_text() == "later"
    assert (files / "a.txt").is_symlink()


def test_copies_are_not_called_live(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    script = f"""{START}
run.settings.symlink = False
link, os.link = os.link, lambda *paths: (_ for _ in ()).throw(OSError("no links here"))
run.save("a.txt")
run.finish()
"""
    run_script(script, tmp_path)
    assert saved(tmp_path) == [("a.txt", 0)]
    copy = log_of(tmp_path).parent / "files" / "a.txt"
    assert not copy.is_symlink()
    assert not copy.samefile(tmp_path / "a.txt")


def test_names_with_the_characters_of_patterns(tmp_path: Path) -> None:
    make(tmp_path, "a[1].txt", "a1.txt")
    run_script(f"{START}run.save('a[1].txt')\nrun.save('a[1].txt', glob=False)\nrun.finish()", tmp_path)
    assert saved(tmp_path) == [("a1.txt", 2), ("a[1].txt", 2)]


def test_what_lies_in_the_run_already_is_recorded_where_it_is(tmp_path: Path) -> None:
    script = f"""{START}
open(os.path.join(run.dir, "own.txt"), "w").write("x")
run.save("own.txt")
run.save(os.path.join(run.dir, "own.txt"), base_path=run.dir)
run.finish()
"""
    run_script(script, tmp_path)
    assert saved(tmp_path) == [("own.txt", 2), ("own.txt", 2)]


@pytest.mark.parametrize(
    "call",
    [
        "run.save('a.txt', policy='sometimes')",
        "run.save('../a.txt')",
        "run.save('/etc/hosts', base_path='/tmp')",
        "run.save('.')",
        "run.save('/etc/x', base_path='/etc/x')",
    ],
)
def test_what_cannot_be_meant_is_refused(call: str, tmp_path: Path) -> None:
    script = f"{START}\ntry:\n    {call}\nexcept ValueError as error:\n    print('refused', error)\nrun.finish()"
    assert "refused" in run_script(script, tmp_path).stdout
    assert saved(tmp_path) == []


def test_neighbours_of_the_base_path_are_not_below_it(tmp_path: Path) -> None:
    make(tmp_path, "base-other/a.txt")
    script = (
        f"{START}\ntry:\n    run.save('base-other/a.txt', base_path='base')\nexcept ValueError:\n    print('refused')"
    )
    assert "refused" in run_script(script, tmp_path).stdout


def test_names_that_the_sdk_takes_itself_are_told(tmp_path: Path) -> None:
    make(tmp_path, "config.yaml", "mine.yaml", "deep/config.yaml")
    script = f"{START}import sys\nrun.save('mine.yaml'); run.save('deep/*'); print(file=sys.stderr)\nrun.save('*.yaml')"
    before, _, after = run_script(script, tmp_path).stderr.partition("\n\n")
    assert "itself" not in before
    assert after.count("config.yaml is saved, but `wandb sync` writes a file of that name itself: take another") == 1
    assert ("config.yaml", 2) in saved(tmp_path)


def test_nothing_to_save_is_said(tmp_path: Path) -> None:
    done = run_script(f"{START}print(run.save('none*'), run.save('s3://bucket/a'))\nrun.finish()", tmp_path)
    assert "[] []" in done.stdout
    assert "nothing to save at none*" in done.stderr
    assert "address in a cloud" in done.stderr


def test_trouble_with_the_disk_stays_here(tmp_path: Path) -> None:
    make(tmp_path, "d/a.txt", "b.txt")
    script = f"""{START}
open(os.path.join(run.dir, "d"), "w").write("in the way of a directory")
print(run.save("d/a.txt"), run.save("d/a.txt"), len(run.save("b.txt")))
run.finish()
"""
    done = run_script(script, tmp_path)
    assert done.stdout.strip() == "[] [] 1"
    assert done.stderr.count("is not saved") == 1
    assert saved(tmp_path) == [("b.txt", 2)]


def test_without_a_run_the_functions_say_so(tmp_path: Path) -> None:
    script = "import recorder\ntry:\n    recorder.save('a')\nexcept recorder.Error as error:\n    print(error)"
    assert "must call init() before save()" in run_script(script, tmp_path).stdout


def test_directories_are_saved_whole(tmp_path: Path) -> None:
    make(tmp_path, "d/a.txt", "d/b.txt")
    run_script(f"{START}run.save('d')\nrun.finish()", tmp_path)
    files = log_of(tmp_path).parent / "files" / "d"
    assert sorted(os.listdir(files)) == ["a.txt", "b.txt"]
