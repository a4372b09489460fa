"""`python -m leet`."""

from leet.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
