#!/usr/bin/env python3
"""Occupancy of gangs: the shipped trace `campus` with its tasks placed at random, spread and packed, against a target line.

    docs/examples/gangs.py [--muster MUSTER] [--line 80]

Every job is a gang: it starts with all of its GPUs or not at all, up to 8 of them on one node, more on whole nodes. Who is not served is overtaken
(blocked=skip), so what idles while jobs wait is lost to placement. Occupancy is gpu_allocation over the first six days, before the trace runs dry.
Ends with status 1 when packing is not better than chance.
"""
import argparse
import json
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--muster", default="muster")
parser.add_argument("--line", type=float, default=80, help="per cent of the GPUs")
args = parser.parse_args()

found = {}
print(f"{'placed':<8}{'occupancy':>11}  {'':<{12}}{'F_topo node':>12}{'largest free':>14}{'idle, though a job would fit':>30}")
for place in ("random", "spread", "pack"):
    command = [args.muster, "run", "--topology", "dgx-a100-16", "--trace", "campus", "--policy", "list", "--set", "blocked=skip",
               "--set", f"place={place}", "--until", "6-00:00:00", "--metrics", "fragmentation,loss", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode > 1:  # 1: the cut leaves jobs unfinished
        raise SystemExit(done.stderr)
    m = {name: v["value"] for name, v in json.loads(done.stdout)["metrics"].items()}
    found[place] = m
    side = "above" if m["gpu_allocation"] * 100 >= args.line else "below"
    print(f"{place:<8}{m['gpu_allocation'] * 100:>10.1f}%  {side + f' {args.line:g} %':<12}{m['fragmentation_topo_node']:>12.3f}"
          f"{m['largest_free_node']:>9.1f} GPUs{m['loss_of_capacity_fit'] * 100:>29.1f}%")
better = found["pack"]["gpu_allocation"] > found["random"]["gpu_allocation"] and found["pack"]["fragmentation_topo_node"] < found["random"]["fragmentation_topo_node"]
raise SystemExit(0 if better else 1)
