#!/usr/bin/env python3
"""Feeds bad inputs to muster and compares its one-line complaint.

usage: run.py MUSTER TABLE.txt...

A table holds rows `input => message`, and lines that say what to do with the input:
  ! file NAME       the input is written to NAME (@ in a message stands for it); without it the input is the command's last words
  ! with NAME TEXT  another file that the command needs
  ! run ARGUMENTS   the command, @ standing for the input's name
  ! exit N          the exit status of the rows that follow (2 unless told otherwise); 0: the message is a warning, the run goes on
\\n \\t \\r \\0 \\xHH and \\\\ are escapes; {N*TEXT} is TEXT N times. Of a message the first line on stderr counts; "..." at its end allows more,
and => with nothing after it allows any one-line message. Always: standard output is empty after an error, nothing runs longer than 20 s.
"""
import os, re, shlex, subprocess, sys, tempfile

NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\", b"s": b" "}


def decode(text):
    text = re.sub(rb"\{(\d+)\*([^{}]+)\}|\{(\d+)\*([{])\}", lambda m: (m[2] or m[4]) * int(m[1] or m[3]), text.encode())
    return re.sub(rb"\\(x[0-9a-fA-F]{2}|.)", lambda m: bytes([int(m[1][1:], 16)]) if len(m[1]) == 3 else NAMED[m[1]], text)


def rows(table):
    state = {"file": None, "with": [], "run": "", "exit": 2}
    for number, line in enumerate(open(table, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line or line.startswith("# "):
            continue
        if line.startswith("! "):
            word, _, rest = line[2:].partition(" ")
            if word == "file":
                state.update({"file": rest or None, "with": []})
            elif word == "with":
                name, _, text = rest.partition(" ")
                state["with"] = state["with"] + [(name, text)]
            elif word == "run":
                state["run"] = rest
            elif word == "exit":
                state["exit"] = int(rest)
            else:
                sys.exit(f"{table}:{number}: unknown directive {word}")
            continue
        left, arrow, message = line.partition(" =>")
        if not arrow:
            sys.exit(f"{table}:{number}: want INPUT => MESSAGE")
        yield number, left, message.strip(), dict(state)


def judge(muster, folder, text, message, state):
    """An empty text, or what is wrong."""
    for name, content in state["with"]:
        open(os.path.join(folder, name), "wb").write(decode(content))
    words = shlex.split(state["run"].replace("@", state["file"] or "@"))
    if state["file"]:
        open(os.path.join(folder, state["file"]), "wb").write(decode(text))
    else:
        words += shlex.split(os.fsdecode(decode(text)))
    try:
        done = subprocess.run([muster] + words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "still running after 20 s"
    stderr = done.stderr.decode("utf-8", "replace").rstrip("\n").split("\n")
    wrong = []
    if done.returncode != state["exit"]:
        wrong.append(f"exit status {done.returncode}, not {state['exit']}")
    prefix = "error: " if state["exit"] else "warning: "
    found = stderr[0][len(prefix):] if stderr[0].startswith(prefix) else f"[no {prefix.strip()}] {stderr[0]}"
    want = message.replace("@", state["file"] or "@")
    if want and not (found.startswith(want[:-3]) if want.endswith("...") else found == want):
        wrong.append(f"said    {found}")
    if state["exit"]:
        if done.stdout and words[0] != "verify":  # which closes with its count in any case
            wrong.append(f"standard output has {done.stdout[:60]!r}")
        if len([l for l in stderr if l.startswith("error: ")]) != 1 or len(stderr) > 1:
            wrong.append(f"{len(stderr)} lines on standard error")
        if len(found) > 400:
            wrong.append(f"a message of {len(found)} characters")
    return "\n      ".join(wrong)


def main():
    muster = os.path.abspath(sys.argv[1])
    passed = failed = 0
    for table in sys.argv[2:]:
        for number, text, message, state in rows(table):
            with tempfile.TemporaryDirectory() as folder:
                wrong = judge(muster, folder, text, message, state)
            passed, failed = (passed, failed + 1) if wrong else (passed + 1, failed)
            if wrong:
                print(f"FAIL  {os.path.basename(table)}:{number}: {text[:70]}\n      wanted  {message}\n      {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
