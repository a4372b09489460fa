"""Settings: one table, a file that may be wrong, the environment over it, and a file that keeps its comments."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from leet import cli
from leet.settings import settings, store
from leet.settings.draft import Draft
from leet.settings.table import (
    SETTINGS,
    VARIABLES,
    Choice,
    Count,
    Grid,
    GridSize,
    Name,
    Number,
    Toggle,
    WrongValue,
    groups,
)
from leet.settings.toml_file import mend, read, write


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the settings are, which is nowhere yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "leet" / "config.toml"
    path.parent.mkdir()
    return path


def loaded(path: Path, text: str) -> store.Settings:
    path.write_text(text, encoding="utf-8")
    return store.load({"XDG_CONFIG_HOME": str(path.parents[1])})


# The table


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda s: s.name)
def test_every_default_is_allowed_and_survives_the_file(setting) -> None:
    assert setting.read(setting.stored(setting.default)) == setting.default
    assert setting.parse(setting.shown(setting.default)) == setting.default
    assert setting.about
    assert not setting.about.endswith(".")
    assert setting.allowed
    assert setting.variable in VARIABLES


def test_no_setting_is_a_group_of_others() -> None:
    for name in SETTINGS:
        assert not any(other.startswith(f"{name}.") for other in SETTINGS)
    assert [s for members in groups().values() for s in members] == list(SETTINGS.values())


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        (Toggle("a", True, "x", "g"), 1),
        (Toggle("a", True, "x", "g"), "on"),
        (Choice("a", "b", "x", "g", ("b", "c")), "d"),
        (Choice("a", "b", "x", "g", ("b", "c")), ["b"]),
        (Count("a", 1, "x", "g", 0, 5), 6),
        (Count("a", 1, "x", "g", 0, 5), True),
        (Count("a", 1, "x", "g", 0, 5), 1.0),
        (Number("a", 1.0, "x", "g", 0.5, 5.0), float("nan")),
        (Number("a", 1.0, "x", "g", 0.5, 5.0), 0.1),
        (GridSize("a", None, "x", "g"), "0x3"),
        (GridSize("a", None, "x", "g"), "4x10"),
        (GridSize("a", None, "x", "g"), "²x3"),
        (Name("a", "b", "x", "g"), ""),
        (Name("a", "b", "x", "g"), "a\nb"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(setting, wrong) -> None:
    with pytest.raises(WrongValue, match=r"^takes "):
        setting.read(wrong)


@pytest.mark.parametrize("written", ["4x3", "4 x 3", "4×3", "4X3"])
def test_grids_are_read_as_people_write_them(written: str) -> None:
    assert GridSize("a", None, "x", "g").parse(written) == Grid(4, 3)


def test_typed_access_refuses_another_type(file: Path) -> None:
    held = loaded(file, "")
    assert held.toggle("mouse") is True
    assert held.count("system.tail_minutes") == 10
    assert held.number("top.interval") == 2.0
    assert held.choice("charts.guides") == "off"
    assert held.grid("grids.run_media") == Grid(1, 2)
    for wrong in (held.toggle, held.count, held.number, held.grid):
        with pytest.raises(TypeError):
            wrong("charts.guides")
    with pytest.raises(TypeError):
        held.choice("mouse")
    with pytest.raises(KeyError):
        held.toggle("no.such")


# The file


def test_a_file_is_read_and_the_environment_goes_before_it(file: Path) -> None:
    file.write_text('smoothing = "0.6"\n[charts]\nguides = "dots"\n[system]\ntail_minutes = 30\n')
    environ = {"XDG_CONFIG_HOME": str(file.parents[1]), "LEET_CHARTS_GUIDES": "horizontal", "LEET_CACHE": "off"}
    held = store.load(environ)
    assert held.problems == ()
    assert held.choice("smoothing") == "0.6"
    assert held.choice("charts.guides") == "horizontal"
    assert held.count("system.tail_minutes") == 30
    assert held.toggle("cache.enabled") is False
    assert [held.origin(n) for n in ("smoothing", "charts.guides", "mouse")] == ["file", "environment", "default"]


def test_a_wrong_variable_is_said_and_left_out(file: Path) -> None:
    held = store.load({"XDG_CONFIG_HOME": str(file.parents[1]), "LEET_MOUSE": "perhaps", "LEET_ASCII": " "})
    assert held.toggle("mouse") is True
    assert [str(problem) for problem in held.problems] == ["LEET_MOUSE: takes on or off, not 'perhaps'"]


def test_a_choice_may_be_written_as_the_number_or_truth_value_it_names(file: Path) -> None:
    held = loaded(file, "smoothing = 0.9\n[charts]\nguides = false\n")
    assert (held.problems, held.choice("smoothing"), held.choice("charts.guides")) == ((), "0.9", "off")
    held = loaded(file, "smoothing = 0.7\n[charts]\nguides = true\n")
    assert [str(problem) for problem in held.problems] == [
        "config.toml:1: smoothing takes off, 0.6, 0.9, 0.99, not 0.7",
        "config.toml:3: charts.guides takes off, dots, horizontal, not true",
    ]


WRONG = """\
# mine
smooting = "0.6"
smoothing = "0.7"
[console]
wrap = maybe
times = 3
[grids
run_metrics = "4x3"
[charts]
guides = "dots"
grid = 4
[keys]
quit = "Q"
help = 4
"""


def test_every_wrong_line_is_told_by_its_number_and_the_others_hold(file: Path) -> None:
    held = loaded(file, WRONG)
    assert [str(problem) for problem in held.problems] == [
        "config.toml:2: there is no setting smooting; did you mean smoothing?",
        "config.toml:3: smoothing takes off, 0.6, 0.9, 0.99, not '0.7'",
        "config.toml:5: is no TOML: invalid value; the line is left out",
        "config.toml:6: console.times takes true or false, not 3",
        "config.toml:7: is no TOML: expected ']' at the end of a table declaration; the line and what stands below it "
        "are left out",
        "config.toml:11: there is no setting charts.grid; did you mean charts.guides?",
        'config.toml:14: keys.help takes a key such as "ctrl+f", or a list of keys',
    ]
    assert held.from_file == {"charts.guides": "dots"}
    assert held.keys == {"quit": ("Q",)}
    assert held.key_lines == {"quit": 13}


def test_settings_of_the_wrong_table_are_found(file: Path) -> None:
    held = loaded(file, "wrap = true\n[charts]\nsystem = 3\nconsole = 4\n")
    assert str(held.problems[0]) == ("config.toml:1: there is no setting wrap; did you mean console.wrap?")
    assert held.problems[1].place == "config.toml:3"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"\xff\xfe\x00mouse = false", "config.toml:1: is no UTF-8; the line is left out"),
        (b'mouse = """\nfalse\n', "config.toml:"),
        (b"x = " + b"[" * 5000, "config.toml"),
        (b"x = " + b"9" * 5000, "config.toml"),
        (b"\x00\x01\x02" * 100, "config.toml:1"),
        (b"a" * (2 << 20), "is too long for a file of settings; the defaults are used"),
    ],
)
def test_no_garbage_is_more_than_a_problem(file: Path, raw: bytes, reason: str) -> None:
    file.write_bytes(raw)
    held = store.load({"XDG_CONFIG_HOME": str(file.parents[1])})
    assert any(reason in str(problem) for problem in held.problems)
    assert held.from_file == {}


def test_what_is_no_file_is_a_problem(file: Path) -> None:
    file.mkdir()
    held = store.load({"XDG_CONFIG_HOME": str(file.parents[1])})
    assert str(held.problems[0]).endswith("is no regular file; the defaults are used")


def test_a_pipe_keeps_nobody_waiting(file: Path) -> None:
    os.mkfifo(file)
    assert store.load({"XDG_CONFIG_HOME": str(file.parents[1])}).problems


_LINES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["[charts]", "[keys]", "[[charts]]", 'guides = "dots"', "mouse = false", "mouse.x = 1", 'a = """', "'''", "]",
         "x = [1,", "[charts", "charts.guides = 3", "[keys.quit]", '"mouse" = 1', "= 3", "a = 1979-13-45", "[a.b.c]"]
    ),
)  # fmt: skip


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.lists(_LINES, max_size=12).map("\n".join) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_any_text_is_read_and_can_be_written_over(file: Path, text: str) -> None:
    file.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    held = read(file)
    assert all("\n" not in str(problem) and str(problem).isprintable() for problem in held.problems)
    write(file, {"panes.run.logs": True, "charts.guides": "horizontal"})
    after = read(file)
    assert after.from_file["panes.run.logs"] is True
    assert after.from_file["charts.guides"] == "horizontal"
    kept = {name: value for name, value in held.from_file.items() if name not in ("panes.run.logs", "charts.guides")}
    assert {n: after.from_file[n] for n in kept} == kept


@given(st.lists(_LINES, max_size=12).map("\n".join))
def test_a_mended_text_is_toml_of_as_many_lines(text: str) -> None:
    mended = mend(text)
    tomllib.loads(mended.text)
    assert mended.text.count("\n") == text.count("\n")


# Writing


def test_comments_order_and_what_is_not_ours_stay(file: Path) -> None:
    file.write_text('# top\nmouse = false  # no mouse\n\n[charts]\n# lines\nguides = "dots"\n\n[other]\nx = 1\n')
    write(file, {"charts.guides": "off", "panes.run.logs": True, "grids.run_metrics": Grid(2, 5)}, frozenset({"mouse"}))
    text = file.read_text()
    assert text.startswith("# top\n")
    assert '# lines\nguides = "off"' in text
    assert "[other]\nx = 1\n" in text
    assert "mouse" not in text
    held = read(file).from_file
    assert held == {"charts.guides": "off", "panes.run.logs": True, "grids.run_metrics": Grid(2, 5)}


def test_lines_that_are_no_toml_become_comments(file: Path) -> None:
    file.write_text("mouse = nope\nascii = true\n")
    write(file, {"smoothing": "0.9"})
    assert file.read_text().startswith("# not understood: mouse = nope\nascii = true\n")


def test_a_link_is_followed_and_the_mode_stays(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text("mouse = false\n")
    target.chmod(0o600)
    file.symlink_to(target)
    write(file, {"ascii": True})
    assert file.is_symlink()
    assert "ascii = true" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_where_nothing_can_be_written_nothing_is_lost(file: Path) -> None:
    file.write_text("mouse = false\n")
    file.parent.chmod(0o500)
    with pytest.raises(OSError, match="denied"):
        write(file, {"ascii": True})
    assert file.read_text() == "mouse = false\n"


def test_a_file_that_nobody_may_write_to_is_left_alone(file: Path) -> None:
    file.write_text("mouse = false\n")
    file.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        write(file, {"ascii": True})
    assert file.read_text() == "mouse = false\n"


def test_settings_are_read_once_and_again_after_a_reload(file: Path) -> None:
    assert settings().toggle("ascii") is False
    write(file, {"ascii": True})
    assert settings().toggle("ascii") is False
    assert store.reload().toggle("ascii") is True
    assert settings().toggle("ascii") is True


# Drafts


def test_a_draft_knows_what_is_changed(file: Path) -> None:
    file.write_text("mouse = false\n")
    draft = Draft(store.reload())
    assert not draft.changed
    draft.set("mouse", True)
    assert draft.source("mouse") == "changed"
    draft.set("mouse", False)
    assert not draft.changed
    draft.reset("mouse")
    assert draft.value("mouse") is True
    draft.set("ascii", True)
    draft.set("ascii", False)
    assert draft.source("ascii") == "default"
    draft.save()
    assert "mouse" not in file.read_text()
    assert settings().toggle("mouse") is True


def test_steps_stay_within_what_is_allowed(file: Path) -> None:
    draft = Draft()
    for name, setting in SETTINGS.items():
        if isinstance(setting, Name):
            continue
        for by in (1, -1):
            for _ in range(20):
                draft.step(name, by)  # type: ignore[arg-type]
                assert setting.read(setting.stored(draft.value(name))) == draft.value(name)


# The command


def test_the_command_reads_and_writes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config", "path"]) == 0
    assert cli.main(["config", "set", "grids.run_metrics", "2x4"]) == 0
    assert cli.main(["config", "get", "grids.run_metrics"]) == 0
    assert capsys.readouterr().out == f"{file}\n2x4\n"
    assert cli.main(["config", "list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert "grids.run_metrics = 2x4  # set in the file" in listed
    assert {line.partition(" = ")[0] for line in listed if " = " in line} == set(SETTINGS)
    assert cli.main(["config", "unset", "grids.run_metrics"]) == 0
    assert "[grids]" not in file.read_text(), "no table stays that holds nothing"
    assert cli.main(["config", "get", "grids.run_metrics"]) == 0
    assert capsys.readouterr().out == "auto\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["set", "mouse", "perhaps"], "mouse takes on or off, not 'perhaps'"),
        (["set", "mouze", "on"], "there is no setting mouze; did you mean mouse?"),
        (["get", "console"], "console is a group of settings; it holds wrap"),
        (["set", "theme", "no-such"], "takes auto or the name of a theme, not 'no-such'"),
    ],
)
def test_wrong_words_are_answered_in_one_line(
    file: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert cli.main(["config", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("leet: ")
    assert said in error
    assert error.count("\n") == 1
    assert not file.exists()


def test_the_list_of_keys_is_the_table_of_the_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text('[keys]\nquit = "Q"\nhelp = "foo"\n')
    assert cli.main(["config", "keys"]) == 0
    out, error = capsys.readouterr()
    assert "config.toml:3: keys.help: foo is no key" in error
    assert tomllib.loads(out) == {"keys": {"quit": ["Q"]}}
    every = "\n".join(line.removeprefix("# ") if " = " in line else line for line in out.splitlines())
    file.write_text(every)
    assert cli.main(["config", "keys"]) == 0
    again, error = capsys.readouterr()
    assert error == ""
    assert again == out


@pytest.mark.parametrize("arguments", [["get"], ["set", "mouse"], ["path", "x"], ["list", "x"], ["frob"]])
def test_wrong_usage_is_two(file: Path, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["config", *arguments])
    assert ended.value.code == 2


def test_the_list_warns_of_what_is_wrong_and_names_variables(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('mouze = 1\ntheme = "no-such"\n[keys]\nquitt = "Q"\n')
    monkeypatch.setenv("LEET_CACHE", "off")
    assert cli.main(["config", "list"]) == 0
    out, error = capsys.readouterr()
    assert "config.toml:1: there is no setting mouze" in error
    assert "config.toml:2: there is no theme 'no-such'" in error
    assert "theme = auto\n" in out  # what is used
    assert "config.toml:4: keys.quitt: there is no such command" in error
    assert "cache.enabled = off  # set by LEET_CACHE" in out


def test_of_a_theme_that_there_is_not_the_one_in_use_is_got(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text('# mine\ntheme = "no-such"\n')
    assert cli.main(["config", "get", "theme"]) == 0
    out, error = capsys.readouterr()
    assert (out, error) == (
        "auto\n",
        "leet: config.toml:2: there is no theme 'no-such'; `leet --theme list` names all\n",
    )


def test_the_example_in_the_readme_is_taken_as_it_stands(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Copied whole, it sets what it says and costs no other command its key."""
    example = (Path(__file__).parents[1] / "README.md").read_text().split("```toml\n")[1].split("```")[0]
    file.write_text(example)
    assert cli.main(["config", "list"]) == 0
    out, error = capsys.readouterr()
    assert error == ""
    assert "theme = leet-light  # set in the file" in out


def test_without_a_terminal_the_editor_says_what_to_do(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config"]) == 1
    assert "leet config list" in capsys.readouterr().err
