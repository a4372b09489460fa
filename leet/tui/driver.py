"""The terminal as Textual drives it on POSIX systems, with what it leaves open closed."""

from __future__ import annotations

import codecs
import os
import re
import selectors
import signal
import time
from collections.abc import Iterable
from typing import Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message

LARGEST = 1000, 500
"""Columns and rows that are drawn at most. A terminal that claims more is mistaken, and memory is not endless."""
USUAL = 80, 24
STOPPING_SECONDS = 0.1
"""After which a signal to stop has stopped us, if it does."""

READ_BYTES = 4096
PASTE_BEGINS, PASTE_ENDS = "\x1b[200~", "\x1b[201~"
ESCAPE, VISIBLE_ESCAPE = "\x1b", "\u241b"
WAIT_SECONDS = 0.1
"""How often is looked whether a key that begins like a sequence (Esc) was only a key, and whether it is over."""


def terminal_size() -> tuple[int, int]:
    """Columns and rows that the terminal itself tells. COLUMNS and LINES may be left from another one."""
    for stream in (0, 1, 2):
        try:
            columns, rows = os.get_terminal_size(stream)
        except OSError:
            continue
        if columns > 0 and rows > 0:
            return min(columns, LARGEST[0]), min(rows, LARGEST[1])
    return USUAL


def within(size: Size) -> Size:
    """A size of the terminal that can be drawn."""
    if size.width <= 0 or size.height <= 0:
        return Size(*USUAL)
    return Size(min(size.width, LARGEST[0]), min(size.height, LARGEST[1]))


class Pastes:
    """Makes escapes visible in what is pasted: the parser would take what follows them for keys that were pressed."""

    def __init__(self) -> None:
        self._inside = False
        self._before = ""
        """The last that was typed: it may be how a paste begins."""
        self._held = ""
        """The last that was pasted: it may be how the paste ends."""

    def tamed(self, text: str) -> str:
        """`text` as the parser is to read it; an unfinished end of a paste comes with the next one."""
        tamed = []
        while text:
            if self._inside:
                pasted, end, text = (self._held + text).partition(PASTE_ENDS)
                self._inside, self._held = not end, "" if end else _begun(pasted, PASTE_ENDS)
                tamed.append(pasted.removesuffix(self._held).replace(ESCAPE, VISIBLE_ESCAPE) + end)
                continue
            known = len(self._before)
            typed, begin, _ = (self._before + text).partition(PASTE_BEGINS)
            end_at = len(typed) + len(begin) - known
            tamed.append(text[:end_at])
            text, self._inside = text[end_at:], bool(begin)
            self._before = "" if begin else _begun(typed, PASTE_BEGINS)
        return "".join(tamed)


def _begun(text: str, sequence: str) -> str:
    """The longest end of `text` with which `sequence`, not complete, begins."""
    return next((sequence[:n] for n in range(len(sequence) - 1, 0, -1) if text.endswith(sequence[:n])), "")


class Keys:
    """What is typed, as events. A sequence that makes no sense is dropped, and reading goes on behind it."""

    def __init__(self, debug: bool = False) -> None:
        self._debug = debug
        self._parser = XTermParser(debug)
        self._pastes = Pastes()

    def feed(self, text: str) -> Iterable[Message]:
        for piece in re.split("(?=\x1b)", self._pastes.tamed(text)):
            if piece:
                yield from self._events(self._parser.feed(piece))

    def tick(self) -> Iterable[Message]:
        """The events of what has waited for more, in vain."""
        return self._events(self._parser.tick())

    def _events(self, found: Iterable[Message]) -> Iterable[Message]:
        parts = iter(found)
        while True:
            try:
                message = next(parts)
            except StopIteration:
                return
            except Exception:  # whatever the parser stumbles over: numbers too long, none, no characters
                before, self._parser = self._parser, XTermParser(self._debug)
                for kept in ("mouse_pixels", "terminal_size", "terminal_pixel_size"):
                    setattr(self._parser, kept, getattr(before, kept))
                return
            yield message


class PosixDriver(LinuxDriver):
    """Asks the terminal alone for its size, and survives being continued without having been stopped by itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._size is None:
            # Otherwise the app asks its console, which believes COLUMNS.
            self._size = terminal_size()

    def run_input_thread(self) -> None:
        """Make events of what the terminal sends, whatever that is, until it is gone.

        Textual's own stops for good at a byte that is no UTF-8 (a key of a terminal in Latin-1, the mouse of an old
        one, noise on a line) and at a sequence with numbers that it does not expect, and spins where nothing more
        can come.
        """
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        keys = Keys(self._debug)
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(WAIT_SECONDS):
                    try:
                        raw = os.read(self.fileno, READ_BYTES)
                    except BlockingIOError:
                        continue
                    except OSError:
                        raw = b""
                    if not raw:
                        os.kill(os.getpid(), signal.SIGHUP)
                        return
                    for message in keys.feed(decode(raw)):
                        self.process_message(message)
                for message in keys.tick():
                    self.process_message(message)

    def process_message(self, message: Message) -> None:
        """Believe a size that the terminal sends no more than one that is asked for."""
        if isinstance(message, events.Resize):
            size = within(message.size)
            message = events.Resize(size, size, pixel_size=message.pixel_size)
        super().process_message(message)

    def _get_terminal_size(self) -> tuple[int, int]:
        return terminal_size()

    def _sigtstp_application(self, *_: object) -> None:
        """Stop as a shell's ctrl+z does: the whole job, and not at all where nobody could continue it.

        Textual sends SIGSTOP to this process alone. A shell does not notice that while what started us (`uv run`)
        goes on, and a terminal without a shell (a container, `tmux new leet`) would be stuck for good; the default
        action of SIGTSTP is ignored there.
        """
        if self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
        before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        time.sleep(STOPPING_SECONDS)
        signal.signal(signal.SIGTSTP, before)
        if self._must_signal_resume:
            self.resume_application_mode()

    def _sigcont_application(self, *_: object) -> None:
        if self._auto_restart:
            if not self._must_signal_resume and self._writer_thread is not None:
                # Stopped by SIGSTOP, or not at all. Starting twice would leave a thread that reads keys for ever.
                self.suspend_application_mode()
                self._must_signal_resume = True
            self.resume_application_mode()
