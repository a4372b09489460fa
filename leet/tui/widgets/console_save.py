"""Lines of the console into a file that a person names."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from leet.model.console import ConsoleLog
from leet.model.console_selection import ConsoleSelection
from leet.model.console_style import plain
from leet.tui.widgets.console_messages import Told

if TYPE_CHECKING:
    from leet.tui.widgets.console_prompt import ConsolePrompt
    from leet.tui.widgets.console_view import ConsoleView


class ConsoleSave:
    """Asks for a path, and writes the lines that pass the filters there: as text, or with time and stream in front."""

    def __init__(self, view: ConsoleView, log: ConsoleLog, lines: ConsoleSelection, run_log: Path | None) -> None:
        """`run_log`: the log of the run; nothing is written into its directory."""
        self._view, self._log, self._chosen = view, log, lines
        self._directory = run_log.parent if run_log is not None else None
        self._name = f"{run_log.stem if run_log is not None else 'run'}-console.log"
        self._timed = False
        self._warned: Path | None = None
        self._prompt: ConsolePrompt

    def ask(self, prompt: ConsolePrompt) -> None:
        """Open the line in which the path is typed."""
        self._prompt = prompt
        keys = {"enter": self._submit, "escape": self._close, "tab": self._switch}
        prompt.open(self._title, str(self._suggestion()), keys, self._typed)
        self._typed("")

    @property
    def _title(self) -> str:
        count = len(self._chosen)
        return f"save {count:,} line{'s' if count != 1 else ''}{' with times' if self._timed else ''} to"

    def _suggestion(self) -> Path:
        """Where one stands; the home directory when that is among the data."""
        here = Path.cwd()
        if self._is_data(here / self._name):
            here = Path.home()
        return here / self._name

    def _is_data(self, path: Path) -> bool:
        """Whether a path lies in the run's directory, or in the `wandb` directory around it."""
        if self._directory is None:
            return False
        own = self._directory.resolve()
        roots = {own, own.parent} if own.parent.name == "wandb" else {own}
        target = path.resolve()
        return any(root in target.parents for root in roots)

    def _typed(self, text: str) -> None:
        self._warned = None
        self._prompt.remark("Tab: with times" if not self._timed else "Tab: without times")

    def _switch(self) -> None:
        self._timed = not self._timed
        self._prompt.entitle(self._title)
        self._typed("")

    def _close(self) -> None:
        self._prompt.close()
        self._view.screen.set_focus(self._view)

    def _submit(self) -> None:
        text = self._prompt.text.strip()
        path = Path(os.path.expanduser(text))
        if not text:
            self._close()
        elif self._is_data(path):
            self._prompt.remark("not here: this is among the data of runs", error=True)
        elif path.is_dir():
            self._prompt.remark("that is a directory: add a name", error=True)
        elif path.exists() and path != self._warned:
            self._warned = path
            self._prompt.remark("exists: Enter again overwrites it", error=True)
        else:
            self._close()
            self._view.run_worker(self._write(path, overwrite=path == self._warned), group="save", exit_on_error=False)

    async def _write(self, path: Path, *, overwrite: bool) -> None:
        written = 0
        self._view.post_message(Told(f"saving {len(self._chosen):,} lines"))
        try:
            with NamedTemporaryFile(
                "w", dir=path.parent, prefix=f".{path.name}.", encoding="utf-8", delete=False
            ) as made:
                try:
                    for numbers in self._chosen.blocks():
                        made.writelines(map(self._text, numbers))
                        written += len(numbers)
                        await asyncio.sleep(0)
                    made.flush()
                    _put(Path(made.name), path, overwrite=overwrite)
                except BaseException:
                    os.unlink(made.name)
                    raise
        except OSError as error:
            self._view.post_message(Told(f"cannot save to {path}: {error.strerror or error}"))
        else:
            self._view.post_message(Told(f"saved {written:,} lines to {path}"))

    def _text(self, number: int) -> str:
        if not self._timed:
            return f"{plain(self._log.kept.text(number))}\n"
        line = self._log.line(number)
        when = datetime.fromtimestamp(line.timestamp).isoformat(" ", "milliseconds") if line.timestamp else "-"
        return f"{when} {line.stream} {line.text}\n"


def _put(made: Path, path: Path, *, overwrite: bool) -> None:
    """Give a finished file its name; without `overwrite` FileExistsError where there is one by now."""
    umask = os.umask(0)
    os.umask(umask)
    made.chmod(0o666 & ~umask)
    if overwrite:
        made.replace(path)
    else:
        os.link(made, path)
        made.unlink()
