#!/bin/sh
# gate.sh BASE NEW [OPTIONS OF THE NEW RUN]: replays the same five made-up weeks with two muster programs, into gate/base and gate/new.
# The seed of a report pairs it with that of the other side.
set -eu
base=$1 new=$2
shift 2
for seed in 1 2 3 4 5; do
  "$base" generate traces/campus.json --seed $seed --out gate/jobs-$seed.csv
  "$base" run -q --topology dgx-a100-16 --trace gate/jobs-$seed.csv --policy list --set blocked=skip --seed $seed --out gate/base/$seed
  "$new" run -q --topology dgx-a100-16 --trace gate/jobs-$seed.csv --policy list --set blocked=skip --seed $seed --out gate/new/$seed "$@"
done
