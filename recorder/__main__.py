"""`python -m recorder` is `leet record`."""

from __future__ import annotations

from recorder.command import main

if __name__ == "__main__":
    raise SystemExit(main(prog="python -m recorder"))
