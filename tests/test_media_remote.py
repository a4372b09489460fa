"""Media of a run on another machine: fetched over a real ssh when they are looked at."""

from __future__ import annotations

from pathlib import Path

from ssh_server import SshServer
from terminals import viewer
from test_media_wall import RED, MediaRun


def test_pictures_and_tables_are_fetched_when_they_are_drawn(tmp_path: Path, server: SshServer) -> None:
    run = MediaRun(tmp_path)
    odd = "it's odd $(name).png"
    run.row(
        {
            "a_picture": run.picture(odd, RED, caption="fetched"),
            "a_table": run.table("t.json", ["word"], [["fetched too"]]),
            "b_missing": {"_type": "image-file", "path": "media/images/none.png"},
            "b_page": run.file("html", "p.html", b"<p>", "html-file"),
        }
    )
    run.finish()
    with viewer(f"box:{run.log}", LEET_SSH=server.command()) as terminal:
        terminal.until(r"finished · balmy-river-7")
        terminal.send("3")
        terminal.until(r"fetched too", 8)
        terminal.until(r"▸ a_picture")
        terminal.send("n")
        terminal.until(r"on the other machine")
        terminal.until(r"not fetched")
        terminal.send("q")
        assert terminal.end() == 0
        assert b"Traceback" not in terminal.raw
    near = list(Path.home().glob(f".cache/leet/remote/**/files/media/images/{odd.replace('(', '[(]')}"))
    assert [path.read_bytes() for path in near] == [(run.files / "media" / "images" / odd).read_bytes()]
    assert not list(Path.home().glob(".cache/leet/remote/**/p.html"))
