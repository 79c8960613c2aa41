#!/usr/bin/env python3
"""Imports every real file the tables name and compares the tree: run.py MUSTER TABLE... A row is `FILE [FILE...] => TREE`, the text behind
"GPUs: " of the topology drawn back, or `FILE => ! MESSAGE` for one that is refused, with the end of its message left out as "..."."""
import os
import subprocess
import sys

muster, tables = sys.argv[1], sys.argv[2:]
data, failed, rows = os.environ["MUSTER_DATA"], 0, 0
for table in tables:
    for line in open(table):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        rows += 1
        files, want = (s.strip() for s in line.split(" => "))
        paths = [os.path.join(data, f) for f in files.split()]
        done = subprocess.run([muster, "topo", "import", *paths], capture_output=True, text=True, timeout=60)
        if done.returncode == 0:
            drawn = subprocess.run([muster, "topo", "-"], input=done.stdout, capture_output=True, text=True, timeout=60)
            found = (drawn.stdout or drawn.stderr).split("\n")[0].removeprefix("standard input").strip()
        else:
            found = "! " + done.stderr.strip().removeprefix("error: ").replace(paths[0] + ": ", "")
        same = found.startswith(want[:-3]) if want.endswith("...") else found == want
        if not same or done.returncode not in (0, 2):
            failed += 1
            print(f"{files}\n  want  {want}\n  found {found} (exit status {done.returncode})")
print(f"{rows} rows, {failed} failed")
sys.exit(failed > 0 or rows == 0)
