#!/usr/bin/env python3
"""usage: run.py MUSTER FOLDER. Runs the bad plugins on two jobs and checks message, exit status and that no report appears."""
import os, subprocess, sys, tempfile

CASES = [
    # plugin, exit status, what standard error must hold
    ("double-book", 3, ["error: policy double-book broke its contract at 0s: job b", "n1/gpu0", "job a"]),
    ("unknown-job", 3, ["error: policy unknown-job broke its contract at 0s:", "4711"]),
    ("bad-device", 3, ["error: policy bad-device broke its contract at 0s: job a", "n1/gpu63"]),
    ("answers-nothing", 1, ["error: no progress at 0s: 2 jobs wait", "job a", "job b"]),
]
muster, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failed = 0
for plugin, status, texts in CASES:
    with tempfile.TemporaryDirectory() as work:
        open(os.path.join(work, "t.json"), "w").write('{"nodes": [{"name": "n1", "gpus": 2}]}')
        open(os.path.join(work, "j.csv"), "w").write("job_id,submit_s,gpus,run_s\na,0,1,10\nb,0,1,10\n")
        command = [muster, "run", "--topology", "t.json", "--trace", "j.csv", "--policy", f"{folder}/{plugin}.so", "--out", "out", "--records"]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=60)
        wrong = [f"standard error lacks {t!r}" for t in texts if t not in done.stderr]
        if done.returncode != status:
            wrong.append(f"exit status {done.returncode}, not {status}")
        left = [os.path.join(p, f) for p, _, names in os.walk(os.path.join(work, "out")) for f in names]
        if left or done.stdout:
            wrong.append(f"wrote {left} {done.stdout!r}")
        failed += bool(wrong)
        print(("FAIL  " if wrong else "ok    ") + plugin, *wrong, *([done.stderr] if wrong else []), sep="\n      " if wrong else "")
sys.exit(1 if failed else 0)
