"""Settings: their sources, and what each value may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded import QUIET, log_of, of_kind, run_script

from recorder.errors import UsageError
from recorder.settings import TABLE, Settings, gather


def test_variables_keywords_and_their_order(tmp_path: Path) -> None:
    environ = {
        "WANDB_PROJECT": "from-variable",
        "WANDB_NAME": "named",
        "WANDB_RUN_NOTES": "noted",
        "WANDB_TAGS": "a,b",
        "WANDB_DIR": str(tmp_path),
        "WANDB_X_STATS_SAMPLING_INTERVAL": "3",
        "WANDB__DISABLE_STATS": "yes",
        "WANDB_X_STATS_DISK_PATHS": '["/", "/tmp"]',
        "WANDB_ENTITY": "",
        "WANDB_NO_SUCH": "1",
    }
    found = gather(Settings(project="from-code", x_label=None), environ)
    assert found.project == "from-code"
    assert (found.run_name, found.run_notes, found.run_tags) == ("named", "noted", ("a", "b"))
    assert (found.x_stats_sampling_interval, found.x_disable_stats) == (3.0, True)
    assert found.x_stats_disk_paths == ("/", "/tmp")
    assert found.entity is None
    assert found.root_dir == str(tmp_path)
    assert found.console == "auto"
    assert not found.unknown


def test_settings_files_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    (home / ".config" / "wandb").mkdir(parents=True)
    (here / "wandb").mkdir(parents=True)
    (home / ".config" / "wandb" / "settings").write_text("[default]\nproject = user\nentity = e\nmode = offline\n")
    (here / "wandb" / "settings").write_text("[default]\nproject = directory\n")
    monkeypatch.setenv("HOME", str(home))
    found = gather(Settings(root_dir=str(here)), {})
    assert (found.project, found.entity, found.mode) == ("directory", "e", "offline")
    assert gather(Settings(root_dir=str(here)), {"WANDB_PROJECT": "variable"}).project == "variable"


class Unprintable:
    """Has no text."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_id", ""),
        ("run_id", " x"),
        ("run_id", "a/b"),
        ("run_id", ".."),
        ("run_id", "a\nb"),
        ("run_id", "\x1b[31m"),
        ("run_id", "\ud800"),
        ("run_id", "\0"),
        ("run_id", "x" * 129),
        ("root_dir", "\0"),
        ("root_dir", "\ud800"),
        ("x_label", "\0"),
        ("project", "a/b"),
        ("project", "x" * 129),
        ("run_tags", ["x" * 65]),
        ("run_tags", ["a", ""]),
        ("mode", "sideways"),
        ("console", "loud"),
        ("x_stats_sampling_interval", 0.01),
        ("x_stats_sampling_interval", "often"),
        ("x_stats_sampling_interval", float("inf")),
        ("x_stats_sampling_interval", float("nan")),
        ("x_transaction_log_flush_interval", float("nan")),
        ("x_stats_pid", -1),
        ("x_stats_pid", 1 << 70),
        ("x_stats_gpu_count", "many"),
        ("x_stats_gpu_count", float("inf")),
        ("x_stats_open_metrics_endpoints", 5),
        ("x_stats_open_metrics_endpoints", "bogus"),
        ("x_stats_open_metrics_endpoints", ["http://a"]),
        ("x_stats_open_metrics_filters", 5),
        ("x_stats_open_metrics_http_headers", "bogus"),
        ("run_name", Unprintable()),
        ("x_disable_stats", "perhaps"),
        ("resume", "sometimes"),
    ],
)
def test_what_a_setting_cannot_be(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=name) as caught:
        Settings(**{name: value})
    assert len(str(caught.value)) < 250
    assert str(caught.value).isprintable()


def test_an_interval_that_no_clock_can_wait_for_is_a_year() -> None:
    assert Settings(x_stats_sampling_interval=1e20).x_stats_sampling_interval == 365 * 86400


def test_settings_that_are_none() -> None:
    with pytest.raises(UsageError, match="dict, and not 5"):
        Settings().update(5)  # type: ignore[arg-type]
    settings = Settings(run_name="x")
    settings.run_name = None
    assert not settings.is_set("run_name")


def test_filters_are_texts_or_texts_by_series() -> None:
    assert Settings(x_stats_open_metrics_filters="a.*, b").x_stats_open_metrics_filters == ("a.*", "b")
    given = {"a": {"gpu": "0"}, "b": None}
    assert Settings(x_stats_open_metrics_filters=given).x_stats_open_metrics_filters == {"a": {"gpu": "0"}, "b": {}}


def test_an_empty_element_of_the_tags_variable_is_an_error() -> None:
    with pytest.raises(UsageError, match="WANDB_TAGS"):
        gather(Settings(), {"WANDB_TAGS": "a,,b"})


@pytest.mark.parametrize(
    ("value", "mode"), [("online", "online"), ("dryrun", "offline"), ("run", "online"), ("DISABLED", "disabled")]
)
def test_modes(value: str, mode: str) -> None:
    assert Settings(mode=value).mode == mode


def test_names_that_nobody_knows_are_kept_apart_from_those_that_change_nothing() -> None:
    settings = Settings(api_key="secret", x_graphql_retry_max=3, init_timeout=3, tpyo=1)
    assert settings.unknown == ["tpyo"]
    with pytest.raises(AttributeError):
        _ = settings.tpyo


def test_every_default_can_be_set_again() -> None:
    for name, (default, parse) in TABLE.items():
        if default is not None:
            assert parse(default) == default, name


def test_every_setting_is_one_of_the_sdk() -> None:
    wandb_settings = pytest.importorskip("wandb.sdk.wandb_settings")
    assert set(TABLE) <= set(wandb_settings.Settings.model_fields)


def test_unknown_keywords_are_named_once(tmp_path: Path) -> None:
    script = f"import recorder\nrecorder.init(project='p', bogus=1, settings={{**{QUIET}, 'tpyo': 2}}).finish()"
    done = run_script(script, tmp_path)
    assert done.stderr.count("bogus, tpyo") == 1
    assert of_kind(log_of(tmp_path), "exit")


def test_silent_says_nothing(tmp_path: Path) -> None:
    script = (
        f"import recorder\nrun = recorder.init(settings={QUIET})\nrun.log({{'a': 1}}, step=3); run.log({{}}, step=1)"
    )
    assert run_script(script, tmp_path, environ={"WANDB_SILENT": "true"}).stderr == ""
