"""`python -m leet`."""

import sys


def main() -> int:
    """The command `leet`. Before it has begun, ctrl+c ends it without a traceback as well."""
    try:
        from leet.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
