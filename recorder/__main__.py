"""`python -m recorder` is `leet record`."""

from __future__ import annotations

import sys


def main() -> int:
    """Before it has begun, ctrl+c ends it without a traceback as well."""
    try:
        from recorder.command import main as run

        return run(prog="python -m recorder")
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
