#!/usr/bin/env python3
"""Whole-process speed: writes the trace busy-K and times `muster run` on it.

    bench/busy.py [--muster build/release/bin/muster] [--jobs 1000000] [--runs 5] [--policy fifo] [--shapes 4] K ...

busy-K: JOBS jobs of one to eight GPUs and up to two hours from an integer recurrence, 10 s between submits on average before
they are divided by K. With --shapes they ask for so many different things in all: CPUs (up to 8 a GPU) and memory differ, which the
default topology does not limit; --topology "node:12500[cpus=64,mem_gib=512] gpu:8" does. On 12,500 nodes of 8 GPUs K = 106 asks for 95 % of them and K = 117 for 105 %. Prints for each K the
best and worst wall time of RUNS runs from exec to exit, peak memory, and beside it load, allocation and mean JCT, without
which a time means nothing.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time


def write_trace(path, jobs, k, shapes=4):
    x, t = 12345, 0
    with open(path, "w") as out:
        more = shapes > 4
        out.write("job_id,user,queue,submit_s,tasks,gpus_per_task,run_s" + (",cpus,mem_gib" if more else "") + "\n")
        for i in range(jobs):
            x = (1103515245 * x + 12345) % 2147483648
            t += x % 21
            x = (1103515245 * x + 12345) % 2147483648
            gpus = (1, 1, 1, 1, 2, 2, 4, 8)[(x >> 16) % 8]
            x = (1103515245 * x + 12345) % 2147483648
            out.write(f"j{i},u{i % 97},q{i % 5},{t / k:.6f},1,{gpus},{1 + (x >> 8) % 7200}")
            kind = i * 7919 % max(1, shapes // 4)
            out.write(f",{gpus * (1 + kind % 8)},{gpus * (4 + kind // 8)}\n" if more else "\n")


def timed(command):
    """Wall seconds, and kilobytes of peak memory, of one process whose output is thrown away."""
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with status {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - begin, usage.ru_maxrss


parser = argparse.ArgumentParser()
parser.add_argument("--muster", default="build/release/bin/muster")
parser.add_argument("--jobs", type=int, default=1_000_000)
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--policy", default="fifo")
parser.add_argument("--topology", default="node:12500 gpu:8")
parser.add_argument("--shapes", type=int, default=4)
parser.add_argument("k", nargs="+", type=int)
args = parser.parse_args()

with tempfile.TemporaryDirectory() as folder:
    for k in args.k:
        trace = pathlib.Path(folder) / f"busy-{k}.csv"
        write_trace(trace, args.jobs, k, args.shapes)
        command = [args.muster, "run", "-q", "--topology", args.topology, "--trace", str(trace), "--policy", args.policy]
        report = json.loads(subprocess.run(command + ["--json"], check=True, capture_output=True).stdout)["metrics"]
        runs = [timed(command) for _ in range(args.runs)]
        of = lambda name: report[name]["value"]
        print(f"busy-{k} {args.policy}, {args.shapes} shapes: {min(r[0] for r in runs):.2f} to {max(r[0] for r in runs):.2f} s, "
              f"{max(r[1] for r in runs) / 1024:.0f} MB; load {of('offered_load'):.3f}, allocation {of('gpu_allocation'):.3f}, "
              f"mean JCT {of('jct_mean_s'):.1f} s, {of('jobs_done'):.0f} jobs done")
