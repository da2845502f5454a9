#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types at a zsh with the completion of heapinject.

  zsh.py DIRECTORY COMMAND...

DIRECTORY holds the completion function.
"""
import os
import pty
import re
import select
import subprocess
import sys
import time

LIMIT_S = 60
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][A-Z0-9]?|\r|\a")


class Zsh:
    def __init__(self, directory):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.text = ""
        self.enter(
            f"PS1='READY> '; fpath=({directory} $fpath); autoload -Uz compinit; compinit -u -D; "
            "stty columns 200; unsetopt zle_bracketed_paste; zstyle ':completion:*' verbose no; "
            "LISTMAX=1000; echo set''up"
        )
        self.wait_for("setup")

    def wait_for(self, wanted):
        self.read_until(lambda: wanted in self.text, wanted)
        self.text = self.text.split(wanted, 1)[1]

    def wait_for_all(self, names):
        """One may be the beginning of another; what is behind the last one moves the cursor."""
        self.read_until(
            lambda: all(re.search(rf"{name}(?![a-z-])", self.sent) for name in names), names
        )

    def read_until(self, is_there, wanted):
        self.sent = ""  # with controls
        end = time.monotonic() + LIMIT_S
        while not is_there():
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise SystemExit(f"FAIL: zsh does not show {wanted!r}, but {self.text!r}")
            sent = os.read(self.terminal, 65536).decode("utf-8", "replace")
            self.sent += sent
            self.text += CONTROLS.sub("", sent)

    def enter(self, line):
        os.write(self.terminal, (line + "\n").encode())

    def completes(self, start, wanted):
        """What is typed becomes what is wanted: told by a line that is printed, and not run."""
        os.write(self.terminal, f"print -r -- \x15{start}\t".encode())
        self.wait_for(wanted)
        os.write(self.terminal, b"\x15")

    def lists(self, start, wanted):
        """What could come next: all of these, in whichever order."""
        os.write(self.terminal, f"print -r -- \x15{start}\t".encode())
        self.wait_for_all(wanted)
        os.write(self.terminal, b"\x15")


def options_of(command):
    text = subprocess.run(
        ["heapinject", "help", command], capture_output=True, text=True, check=True
    ).stdout
    lines = [line.strip().split("  ")[0] for line in text.split("\n") if re.match(r" {2,6}-", line)]
    return sorted({name for line in lines for name in re.findall(r"(?:^|, )(--[a-z-]+)", line)})


def main():
    shell = Zsh(sys.argv[1])
    count = 0
    for command in sys.argv[2:]:
        if command == "help":
            continue
        names = options_of(command)
        shell.lists(f"heapinject {command} --", names)
        count += len(names)
    shell.completes("heapinject rep", "heapinject report")
    shell.completes("heapinject report --sort fl", "--sort flat")
    shell.completes("heapinject attach --loader dl", "--loader dlopen")
    shell.completes("heapinject report some.h", "some.heap")
    os.close(shell.terminal)
    os.waitpid(shell.pid, 0)
    if count < 20:
        raise SystemExit(f"FAIL: only {count} options")
    print(f"zsh: {count} options")


if __name__ == "__main__":
    main()
