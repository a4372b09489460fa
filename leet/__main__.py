"""`python -m leet`."""

import gc
import sys


def main() -> int:
    """The command `leet`. Before it has begun, ctrl+c ends it without a traceback as well."""
    try:
        from leet.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()  # the process ends: to look through all that it holds for garbage would only take time


if __name__ == "__main__":
    sys.exit(main())
