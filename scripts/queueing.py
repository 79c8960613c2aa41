#!/usr/bin/env python3
"""The load sweep of docs/queueing.md: mean wait and time in the system against load, beside theory. Writes a table and docs/queueing.svg.

usage: scripts/queueing.py [MUSTER [JOBS]]     default: build/release/bin/muster, 100,000 jobs a point

From load 0.95 on four times as many: the nearer to 1, the longer a queue remembers.
"""
import csv, math, os, random, subprocess, sys, tempfile

MUSTER = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/muster"
JOBS = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
LOADS = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99]
MEAN = 1000.0  # seconds of service on average
SVG = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "queueing.svg")


def trace(path, servers, load):
    rng, at = random.Random(1), 0.0
    jobs = JOBS if load < 0.95 else 4 * JOBS
    with open(path, "w") as out:
        out.write("job_id,submit_s,gpus,run_s\n")
        for i in range(jobs):
            out.write(f"{i},{at:.6f},1,{rng.expovariate(1 / MEAN):.6f}\n")
            at += rng.expovariate(load * servers / MEAN)


def measured(servers, load, policy, column):
    """Mean of a column of jobs.csv over the mean service; the first tenth of the jobs is left out."""
    with tempfile.TemporaryDirectory() as d:
        trace(f"{d}/t.csv", servers, load)
        subprocess.run([MUSTER, "run", "--topology", f"node:1 gpu:{servers}", "--trace", f"{d}/t.csv", "--policy", policy, "--out", d, "--quiet"],
                       check=True)
        with open(f"{d}/jobs.csv") as f:
            values = [column(r) for r in csv.DictReader(f)]
        kept = values[len(values) // 10:]
        return sum(kept) / len(kept) / MEAN


def erlang_c(c, load):
    a, b = load * c, 1.0
    for k in range(1, c + 1):
        b = a * b / (k + a * b)
    return b / (1 - load * (1 - b)) / (c * (1 - load))


def srpt(load, steps=200_000, most=50.0):
    """Schrage and Miller (1966), exponential service with mean 1."""
    h, less, first, second, resident, mean = most / steps, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(steps):
        x = (i + 0.5) * h
        p = math.exp(-x) * h
        less, first, second = less + p / 2, first + x * p / 2, second + x * x * p / 2
        rho = load * first
        resident += h / (1 - rho) / 2
        mean += p * (load * (second + x * x * (1 - less)) / (2 * (1 - rho) ** 2) + resident)
        less, first, second = less + p / 2, first + x * p / 2, second + x * x * p / 2
        resident += h / (1 - load * first) / 2
    return mean


def plot(curves):
    """Loads to the right, the logarithm of the mean upwards: lines are theory, dots were measured."""
    w, h, left, bottom = 760, 420, 60, 50
    low, high = 0.02, 200.0
    x = lambda load: left + (load - 0.5) / 0.5 * (w - left - 170)
    y = lambda v: h - bottom - math.log(v / low) / math.log(high / low) * (h - bottom - 20)
    s = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" font-family="sans-serif" font-size="12">',
         f'<rect width="{w}" height="{h}" fill="white"/>']
    for v in (0.1, 1, 10, 100):
        s.append(f'<path d="M{left} {y(v):.1f}H{x(1):.1f}" stroke="#ddd"/><text x="{left - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v:g}</text>')
    for load in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        s.append(f'<text x="{x(load):.1f}" y="{h - bottom + 18}" text-anchor="middle">{load:g}</text>')
    s.append(f'<path d="M{left} 20V{h - bottom}H{x(1):.1f}" fill="none" stroke="black"/>')
    s.append(f'<text x="{(left + x(1)) / 2:.1f}" y="{h - 12}" text-anchor="middle">load</text>')
    s.append(f'<text x="{left}" y="14">mean, in mean services (lines: theory; dots: muster)</text>')
    for (name, points), colour in zip(curves, ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad")):
        line = " ".join(f"{x(l):.1f},{y(t):.1f}" for l, t, _ in points)
        s.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        s += [f'<circle cx="{x(l):.1f}" cy="{y(m):.1f}" r="3" fill="{colour}"/>' for l, _, m in points]
        s.append(f'<text x="{x(points[-1][0]) + 10:.1f}" y="{y(points[-1][1]) + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join(s + ["</svg>", ""])


def main():
    wait = lambda r: float(r["start_s"]) - float(r["submit_s"])
    total = lambda r: float(r["end_s"]) - float(r["submit_s"])
    sweeps = [("M/M/1 FIFO wait", 1, "fifo", wait, lambda l: erlang_c(1, l)), ("M/M/8 FIFO wait", 8, "fifo", wait, lambda l: erlang_c(8, l)),
              ("M/M/1 SRPT time", 1, "srtf", total, srpt)]
    curves = []
    print("| load | " + " | ".join(f"{s[0]}, theory | muster" for s in sweeps) + " |")
    print("|---|" + "---|" * 2 * len(sweeps))
    for name, servers, policy, column, theory in sweeps:
        curves.append((name, [(l, theory(l), measured(servers, l, policy, column)) for l in LOADS]))
    for i, load in enumerate(LOADS):
        print(f"| {load} | " + " | ".join(f"{c[1][i][1]:.3f} | {c[1][i][2]:.3f}" for c in curves) + " |")
    with open(SVG, "w") as out:
        out.write(plot(curves))


if __name__ == "__main__":
    main()
