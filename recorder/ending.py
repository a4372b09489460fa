"""How a program ends, so that its runs end with it: exit code, state, and everything that was logged.

While a run is active, `sys.exit` and `sys.excepthook` are watched for the exit code, `atexit` finishes what is still
active, and SIGTERM and SIGHUP, where nobody else handles them, finish the runs before they end the process.
Ctrl+c is the program's own: it raises KeyboardInterrupt, and the run ends when the program does. A second one while
the runs are being finished cuts that short: what is logged so far and the state are written, and the process ends.
A forked child does not own the runs of its parent: it forgets them.

A bare `raise SystemExit(4)` reaches no hook that Python has, so such a run ends as finished, as the SDK has it too;
`sys.exit(4)`, a `with` block and `finish(exit_code=4)` know better.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, NoReturn, Protocol

INTERRUPTED = 255
"""The exit code that the SDK gives to a program ended by ctrl+c."""

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_PATIENCE = 5.0
"""Seconds that a signal waits for the runs to be written before it ends the process all the same."""


class Ends(Protocol):
    """What can be ended: a run."""

    def finish(self, exit_code: int | None = None) -> None: ...

    def cut_short(self, exit_code: int) -> None:
        """There is no time left: write what is known, wait for nothing, take no lock."""

    def disown(self) -> None:
        """This process is a forked child, and the run belongs to its parent."""


class _Watch:
    """The hooks of this process; in place while there are active runs."""

    def __init__(self) -> None:
        self.active: list[Ends] = []
        self.exit_code = 0
        self._installed = False
        self.ending = False
        """Whether the process is ending, and its runs already: threads that go on logging do not know yet."""
        self.interrupted = False
        """Whether ctrl+c has ended the program."""
        self._handled: list[int] = []
        self._exit: Any = None
        self._excepthook: Any = None

    def install(self) -> None:
        if self._installed:
            return
        self._installed = True
        self._exit, sys.exit = sys.exit, self._on_exit
        self._excepthook, sys.excepthook = sys.excepthook, self._on_exception
        atexit.register(self._at_exit)
        # Only the main thread may handle signals, and a handler that somebody else has set is left alone.
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is signal.SIG_DFL:
                    with contextlib.suppress(ValueError, OSError):
                        signal.signal(number, self._on_signal)
                        self._handled.append(number)

    def uninstall(self) -> None:
        """Gives back what is still ours."""
        if not self._installed:
            return
        self._installed = False
        if sys.exit == self._on_exit:
            sys.exit = self._exit
        if sys.excepthook == self._on_exception:
            sys.excepthook = self._excepthook
        if not self.ending:  # it is at work otherwise
            atexit.unregister(self._at_exit)
        for number in self._handled:
            # Elsewhere than in the main thread this fails; the handler then ends the process as the default does.
            with contextlib.suppress(ValueError, OSError):
                if signal.getsignal(number) == self._on_signal:
                    signal.signal(number, signal.SIG_DFL)
        self._handled = []

    def finish_all(self) -> None:
        self.ending = True
        for run in list(self.active):
            run.finish()

    def _at_exit(self) -> None:
        """The interpreter is on its way out."""
        runs = list(self.active)
        main = threading.current_thread() is threading.main_thread()
        # Somebody else's handler is theirs; without one a second ctrl+c would raise in the middle of `finish`.
        if main and runs and signal.getsignal(signal.SIGINT) is signal.default_int_handler:

            def hurry(number: int, frame: FrameType | None) -> None:
                signal.signal(number, signal.SIG_DFL)
                for run in runs:
                    run.cut_short(INTERRUPTED)
                _die(number)

            signal.signal(signal.SIGINT, hurry)
        self.finish_all()
        if main and self.interrupted:
            _mark_as_interrupted()

    def forget(self) -> None:
        """In a forked child: neither the runs nor the hooks are its own."""
        runs, self.active = self.active, []
        for run in runs:
            run.disown()
        self.uninstall()
        self.exit_code = 0
        self.ending = False

    def _on_exit(self, code: object = None) -> NoReturn:
        self.exit_code = status(code)
        self._exit(code)
        raise AssertionError("sys.exit came back")

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self.interrupted = issubclass(kind, KeyboardInterrupt)
        self.exit_code = INTERRUPTED if self.interrupted else 1
        self._excepthook(kind, error, trace)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Finishes the runs in a thread of its own: the interrupted one may hold the very locks that takes.

        The default is back in place from here on: a second signal ends the process at once, and so does the thread.
        """
        signal.signal(number, signal.SIG_DFL)
        self.ending = True
        self.exit_code = 128 + number
        try:
            threading.Thread(target=self._finish_and_die, args=(number,), name="ending", daemon=True).start()
        except RuntimeError:  # no more threads: the interpreter is on its way out already
            _die(number)

    def _finish_and_die(self, number: int) -> None:
        late = threading.Timer(_PATIENCE, _die, (number,))
        late.daemon = True
        late.start()
        try:
            self.finish_all()
        finally:
            _die(number)


def _mark_as_interrupted() -> None:
    """Has the interpreter end by SIGINT, as a shell expects after ctrl+c.

    CPython notes that when a KeyboardInterrupt leaves a program, and forgets it when any thread evaluates source text
    after that, as every import of a module with named tuples or dataclasses does. So it is told again.
    """
    with contextlib.suppress(KeyboardInterrupt):
        exec("raise KeyboardInterrupt")


def _die(number: int) -> None:
    """Ends this process by a signal whose default is in place."""
    os.kill(os.getpid(), number)


_watch = _Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watch.forget)


def watch(run: Ends) -> None:
    """From now on the run ends when the program does."""
    if not _watch.active:
        _watch.exit_code = 0
    _watch.active.append(run)
    _watch.install()


def unwatch(run: Ends) -> None:
    """The run has ended."""
    if run in _watch.active:
        _watch.active.remove(run)
    if not _watch.active and not _watch.ending:
        _watch.uninstall()


def status(code: object) -> int:
    """What the shell sees of a program that ends with `SystemExit(code)`: 255 for -1, 0 for 256, 1 for a text."""
    if code is None:
        return 0
    if not isinstance(code, int):
        return 1
    return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF


def exit_code() -> int:
    """What the program has said so far about how it ends: 0 unless there was an exception or a `sys.exit`."""
    return _watch.exit_code


def is_ending() -> bool:
    """Whether this process is ending: its runs are over, and its threads do not know yet."""
    return _watch.ending
