#!/usr/bin/env python3
"""Recomputes where every job's time went from its state changes alone and compares with jobs.csv.

    check_time_split.py records.jsonl jobs.csv

Shares no code with Muster. Of a record it reads at_us, what, job, state (of the job after the record) and lost_us (run time
that turned out lost with this record), of a submit record also id; docs/records.md. Each tick from submit to end belongs to
the state the job is in:
    queued, claimed   queue_first before the first start, requeue after it
    starting          start_first at the first start, restart at later ones
    running           work or checkpoint, which the state does not tell apart; lost_us moves run time to lost
    draining          drain
"""
import csv
import json
import sys
from decimal import Decimal

PARTS = ("queue_first", "requeue", "start_first", "run", "drain", "restart", "lost")


class Job:
    def __init__(self, ident, at):
        self.ident, self.submit, self.end, self.since = ident, at, None, at
        self.state, self.starts = "queued", 0
        self.parts = dict.fromkeys(PARTS, 0)

    def see(self, record):
        at, spent = record["at_us"], record["at_us"] - self.since
        if self.state in ("queued", "claimed"):
            self.parts["requeue" if self.starts else "queue_first"] += spent
        elif self.state == "starting":
            self.parts["start_first" if self.starts == 1 else "restart"] += spent
        elif self.state == "running":
            self.parts["run"] += spent
        elif self.state == "draining":
            self.parts["drain"] += spent
        else:
            raise SystemExit(f"job {self.ident}: a record at {at} after it was {self.state}")
        self.parts["run"] -= record.get("lost_us", 0)
        self.parts["lost"] += record.get("lost_us", 0)
        self.starts += record["what"] == "start"
        self.since, self.state = at, record["state"]
        if record["what"] == "end":
            self.end = at


def jobs_of(path):
    jobs = {}
    with open(path, encoding="utf-8") as lines:
        if json.loads(next(lines))["schema"] != "muster-records-1":
            raise SystemExit(f"{path}: not muster-records-1")
        whole = False
        for line in lines:
            record = json.loads(line)
            whole = "end_of_run" in record
            if "job" not in record:
                continue
            if record["what"] == "submit":
                jobs[record["job"]] = Job(record["id"], record["at_us"])
            elif record["job"] in jobs:
                jobs[record["job"]].see(record)
    if not whole:
        raise SystemExit(f"{path}: cut")
    return jobs


def main(records, table):
    jobs = list(jobs_of(records).values())
    with open(table, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    if len(rows) != len(jobs):
        raise SystemExit(f"{len(jobs)} jobs in {records}, {len(rows)} rows in {table}")
    wrong = 0
    for job, row in zip(jobs, rows):
        ticks = lambda name: int(Decimal(row[name + "_s"] or 0) * 1000000)
        found = {p: ticks(p) for p in PARTS if p != "run"}
        found["run"] = ticks("work") + ticks("checkpoint")
        problems = [f"{p} {found[p]} us, want {job.parts[p]}" for p in PARTS if found[p] != job.parts[p]]
        if row["id"] != job.ident:
            problems.append(f"id {row['id']}")
        if job.end is None:
            problems.append("no end")
        elif sum(found.values()) != job.end - job.submit or ticks("end") - ticks("submit") != job.end - job.submit:
            problems.append(f"T is {job.end - job.submit} us, the parts are {sum(found.values())}")
        if problems:
            wrong += 1
            print(f"job {job.ident}: " + "; ".join(problems))
    print(f"{len(jobs) - wrong} of {len(jobs)} jobs agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
