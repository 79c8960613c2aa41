#!/usr/bin/env python3
"""Every number that an explanation prints is in the records of the runs behind it, or in the report that those give.

usage: numbers.py MUSTER
"""
import json
import os
import re
import subprocess
import sys
import tempfile

CASES = {
    "drf": [
        '{"capacity": {"cpu": 9, "mem_gb": 18}, "users": {"A": {"demand": {"cpu": 1, "mem_gb": 4}}, "B": {"demand": {"cpu": 3, "mem_gb": 1}}}}',
        '{"capacity": {"gpu": 8, "cpu": 64, "ram": 256}, "users": {"A": {"demand": {"gpu": 2, "cpu": 4, "ram": 16}, "weight": 2},'
        ' "B": {"demand": {"gpu": 0, "cpu": 8, "ram": 24}}, "C": {"demand": {"gpu": 1, "cpu": 4, "ram": 64}}}}',
        '{"capacity": {"cpu": 9, "mem": 18}, "users": {"A": {"cpu": 1, "mem": 4}, "B": {"cpu": 3, "mem": 1}}, "order": ["B", "A", "A"]}',
        '{"capacity": {"cpu": 30, "gpu": 30}, "tree": {"a": {"demand": {"cpu": 1}}, "b": {"children": {"x": {"demand": {"cpu": 1}}, "y": {"demand": {"gpu": 1}}}}}}',
    ],
    "maxmin": [
        '{"capacity": 10, "demands": {"a": 2, "b": 3, "c": 4, "d": 5}, "weights": {"d": 2}}',
        '{"capacity": 16, "demands": {"a": 3, "b": 5, "c": 8, "d": 9}, "indivisible": true}',
        '{"links": {"AC": 1, "BC": 1, "CE": 1}, "flows": {"f": ["AC", "CE"], "g": ["BC"], "h": ["BC", "CE"]}}',
    ],
    "schedule": ['{"gpus": 1, "jobs": [{"id": "A", "submit": 0, "run": 5}, {"id": "B", "submit": 3, "run": 6}, {"id": "C", "submit": 4, "run": 3}]}'],
    "backfill": ['{"gpus": 4, "jobs": [{"id": "A", "submit": 0, "size": 2, "run": 10}, {"id": "B", "submit": 1, "size": 4, "run": 5},'
                 ' {"id": "C", "submit": 2, "size": 2, "run": 6}, {"id": "D", "submit": 3, "size": 2, "run": 9.5}]}'],
}
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")


def known(folder, muster):
    """All numbers of the records, ticks also as seconds, and those of the reports that records give."""
    found = set()

    def add(value):
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, (int, float)):
            for v in (value, value / 1e6, value / 1000, value * 100):
                found.add(f"{v:.6g}")
        elif isinstance(value, str):
            found.update(f"{float(n):.6g}" for n in re.findall(r"\d+(?:\.\d+)?", value))
            found.update(f"{int(a) / int(b):.6g}" for a, b in re.findall(r"(\d+)/(\d+)", value))  # 16/5 is shown as 3.2
        elif isinstance(value, list):
            for v in value:
                add(v)
        else:
            for k, v in value.items():
                add(v)

    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        for line in open(path, encoding="utf-8"):
            add(json.loads(line))
        add(json.loads(subprocess.run([muster, "report", path, "--json"], check=True, capture_output=True, text=True).stdout))
    return found


def main():
    muster, failed, checked = os.path.abspath(sys.argv[1]), 0, 0
    for kind, inputs in CASES.items():
        for i, text in enumerate(inputs):
            with tempfile.TemporaryDirectory() as folder:
                exercise, records = os.path.join(folder, "x.json"), os.path.join(folder, "records")
                with open(exercise, "w", encoding="utf-8") as out:
                    out.write(text)
                os.mkdir(records)
                printed = subprocess.run([muster, "explain", kind, exercise, "--records", records], check=True, capture_output=True, text=True).stdout
                printed = re.sub(r"^ *(steps [\d, to]+|round|step) ", " ", printed, flags=re.M)  # headings
                rows = [re.sub(r"^ *\d+  ", " ", l) if re.match(r" *\d+  ", l) else l for l in printed.split("\n")]  # the numbers of steps
                rows = [l for l in rows if not re.match(r"^ *0 .*\d$", l) or "|" in l]  # the scale of bars
                have = known(records, muster)
                for n in NUMBER.findall("\n".join(rows)):
                    checked += 1
                    if f"{float(n):.6g}" not in have:
                        failed += 1
                        print(f"FAIL  {kind} {i + 1}: {n} is in no record\n{printed}")
                        break
    print(f"{checked} numbers, {failed} not in the records")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
