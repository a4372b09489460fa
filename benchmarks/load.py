"""Opening big logs: time until the last step is shown and peak memory, ours and `wandb leet` on the same file."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.programs import OURS, THEIRS, environment
from benchmarks.terminal import measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    parser.add_argument("--ours", default="✓ finished", help="what our screen shows when all is read (regex)")
    parser.add_argument("--theirs", default="State: Finished", help="what that of `wandb leet` shows; empty: ours only")
    parser.add_argument("--timeout", type=float, default=300)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        env = environment(Path(home))
        for log in args.logs:
            print(f"{log.name}: {log.stat().st_size / 1e6:.0f} MB")
            ours = measure([*OURS, str(log)], args.ours, env=env, timeout=args.timeout)
            print(
                f"  leet        first {ours.first or 0:.2f} s  all {ours.until or -1:.2f} s  {ours.peak_memory:.0f} MiB"
            )
            if args.theirs:
                theirs = measure([*THEIRS, str(log)], args.theirs, env=env, timeout=args.timeout)
                print(
                    f"  wandb leet  first {theirs.first or 0:.2f} s  all {theirs.until or -1:.2f} s  "
                    f"{theirs.peak_memory:.0f} MiB"
                )
                if ours.until and theirs.until:
                    faster, smaller = theirs.until / ours.until, theirs.peak_memory / ours.peak_memory
                    print(f"  time 1/{faster:.0f}, memory 1/{smaller:.1f}")
            started = time.perf_counter()
            subprocess.run([*OURS, "inspect", "--summary", str(log)], stdout=subprocess.DEVNULL, check=True)
            mine = time.perf_counter() - started
            started = time.perf_counter()
            subprocess.run([*THEIRS, "inspect", "--summary", str(log)], stdout=subprocess.DEVNULL, check=True, env=env)
            other = time.perf_counter() - started
            print(f"  inspect --summary {mine:.2f} s, wandb leet {other:.2f} s: 1/{other / mine:.1f}")


if __name__ == "__main__":
    main()
