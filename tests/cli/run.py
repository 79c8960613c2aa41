#!/usr/bin/env python3
"""Types transcripts and compares what comes back.

usage: run.py MUSTER TRANSCRIPT.txt...

In a transcript `$ COMMAND` (and `> ` lines below it) is typed to sh, with `muster` the program under test, in an empty folder of its own; the lines below it are standard
output, then standard error with `! ` before each line, then `[N]` when the exit status is not 0. A line `...` stands for any lines, `...` inside
a line for any text. Lines before the first `$` are for people. Of a page in Markdown the fenced blocks that begin with `$ ` are the transcript, and
a fenced block of a language and a file's name is that file.
"""
import os, re, subprocess, sys, tempfile


def pattern(lines):
    parts = [r"(?:.*\n)*?" if l == "..." else ".*?".join(map(re.escape, l.split("..."))) + "\n" for l in lines]
    return re.compile("".join(parts) + r"\Z")


def main():
    muster, failed, passed = os.path.abspath(sys.argv[1]), 0, 0
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "GITHUB_ACTIONS")}
    # A page compiles against the headers as if they were installed.
    environment["CPLUS_INCLUDE_PATH"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include")
    environment["PATH"] = os.path.dirname(muster) + ":" + environment["PATH"]
    for file in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            text = open(file, encoding="utf-8").read()
            if file.endswith(".md"):
                for name, block in re.findall(r"^```\w+ ([\w.]+)\n(.*?)^```$", text, re.M | re.S):
                    open(os.path.join(folder, name), "w", encoding="utf-8").write(block)
                text = "".join("\n" + block for block in re.findall(r"^```\w*\n(\$ .*?)^```$", text, re.M | re.S))
            for block in text.split("\n$ ")[1:]:
                command, _, rest = block.partition("\n")
                while rest.startswith("> "):
                    more, _, rest = rest[2:].partition("\n")
                    command += "\n" + more
                lines = rest.rstrip("\n").split("\n") if rest.strip() else []
                status = 0
                if lines and re.fullmatch(r"\[\d+\]", lines[-1]):
                    status = int(lines.pop()[1:-1])
                out = [l for l in lines if not l.startswith("! ")]
                err = [l[2:] for l in lines if l.startswith("! ")]
                done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
                wrong = []
                if done.returncode != status:
                    wrong.append(f"exit status {done.returncode}, not {status}")
                for name, want, found in (("output", out, done.stdout), ("error", err, done.stderr)):
                    if not pattern(want).match(found):
                        wrong.append(f"standard {name}:\n{found}")
                passed, failed = (passed, failed + 1) if wrong else (passed + 1, failed)
                if wrong:
                    print(f"FAIL  {os.path.basename(file)}: $ {command}", *wrong, sep="\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
