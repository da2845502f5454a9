#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the colours of reports at a pseudo-terminal and elsewhere.

  drive.py HEAPINJECT OLD NEW DIRECTORY

The last line is `colours: ok`.
"""
import os
import pty
import re
import select
import subprocess
import sys
import time

HEAPINJECT, OLD, NEW, DIRECTORY = sys.argv[1:5]
LIMIT_S = 60
STYLE = re.compile(r"\x1b\[[0-9;]*m")
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r|\a")
PROMPT = "(heapinject) "
BOLD, DIM, MORE, LESS, END = "\x1b[1m", "\x1b[2m", "\x1b[38;5;202m", "\x1b[38;5;33m", "\x1b[0m"
SIGNED = re.compile(f"({re.escape(MORE)}|{re.escape(LESS)})([^\x1b]*){re.escape(END)}")
TEXT_VIEWS = (["--text"], ["--tree"], ["--peek", "grown"], ["--traces"], ["--modules"], ["--sizes"])
OTHERS = (
    ["--collapsed"], ["--json"], ["--dot"], ["--speedscope"], ["--firefox"], ["--grafana"],
    ["--flame"], ["--html"], ["--heap"],
)


def environment(**more):
    variables = {
        "PATH": os.environ["PATH"], "TERM": "xterm-256color", "HOME": DIRECTORY,
        "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""),
    }
    variables.update(more)
    return {name: value for name, value in variables.items() if value is not None}


def check(is_right, what, text):
    if not is_right:
        raise SystemExit(f"FAIL: {what}:\n{text!r}")
    print(f"{what}: ok")


def read_on(terminal, end):
    """The next bytes; None at the end."""
    if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
        raise SystemExit(f"FAIL: nothing more within {LIMIT_S} s")
    try:
        return os.read(terminal, 65536) or None
    except OSError:
        return None


def start(*arguments, **more):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(HEAPINJECT, [HEAPINJECT, *arguments], environment(**more))
    return pid, terminal


def at_terminal(*arguments, **more):
    pid, terminal = start(*arguments, **more)
    end = time.monotonic() + LIMIT_S
    data = b""
    while (part := read_on(terminal, end)) is not None:
        data += part
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    text = data.decode("utf-8").replace("\r\n", "\n")
    check(status == 0, f"{' '.join(arguments)} ends well", text)
    return text


def piped(*arguments, **more):
    return subprocess.run(
        [HEAPINJECT, *arguments], env=environment(**more), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=True,
    ).stdout


def check_comparison():
    plain, shown = piped("diff", OLD, NEW, "--text"), at_terminal("diff", OLD, NEW, "--text")
    check("\x1b" not in plain, "a pipe gets no colour", plain)
    check(STYLE.sub("", shown) == plain, "but for colour a terminal gets the same", shown)
    check(
        f"{MORE}      400B{END}" in shown and f"{LESS}      -50B{END}" in shown,
        "what has grown is orange, what is less is blue",
        shown,
    )
    check(f"Change: {MORE}+350B{END} in use" in shown, "so is the sum", shown)
    check(
        f"{BOLD}      flat  flat%" in shown and f"{DIM}Showing nodes" in shown,
        "headings are bold, the rest is dim",
        shown,
    )
    check(
        f"{MORE}         0" not in shown and f"{LESS}         0" not in shown,
        "nothing has no colour",
        shown,
    )
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", None)):
        check(
            "\x1b" not in at_terminal("diff", OLD, NEW, "--text", **{name: value}),
            f"none with {name}={value}",
            "",
        )
    check(
        "\x1b" not in at_terminal("diff", OLD, NEW, "--text", "--color=never"),
        "none with --color=never",
        "",
    )
    check(
        MORE in at_terminal("diff", OLD, NEW, "--text", NO_COLOR=""),
        "an empty NO_COLOR refuses nothing",
        "",
    )
    for more in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        check(
            piped("diff", OLD, NEW, "--text", "--color", "always", **more) == shown,
            f"--color=always goes through a pipe {more}",
            "",
        )


def check_signs(view, shown):
    for style, figure in SIGNED.findall(shown):
        is_less = figure.lstrip().startswith("-")
        if is_less != (style == LESS):
            raise SystemExit(f"FAIL: {view} has {figure} in the wrong colour")


def check_views():
    for command in (["report", NEW], ["diff", OLD, NEW]):
        for view in TEXT_VIEWS:
            plain, shown = piped(*command, *view), at_terminal(*command, *view)
            check(
                "\x1b" in shown and STYLE.sub("", shown) == plain,
                f"{command[0]} {view[0]} but for colour",
                shown,
            )
            check(
                (MORE in shown) == (command[0] == "diff"),
                f"{command[0]} {view[0]} has signs or none",
                shown,
            )
            check_signs(view[0], shown)
            if command[0] == "diff" and "cum%" in shown:
                rest = SIGNED.sub("", shown.split("cum%")[1])
                check(not re.search(r"\dB\b", rest), f"no figure of {view[0]} is forgotten", shown)
    for view in OTHERS:
        check(
            "\x1b" not in piped("report", NEW, *view, "--color=always"),
            f"no colour in {view[0]}",
            "",
        )


def check_files():
    path = f"{DIRECTORY}/out.txt"
    for option in ("auto", "always"):
        said = at_terminal("diff", OLD, NEW, "--text", "--color", option, "-o", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        check(
            said == "" and text == piped("diff", OLD, NEW, "--text"),
            f"a file gets none, {option}",
            text,
        )


def check_usage():
    wrong = subprocess.run(
        [HEAPINJECT, "report", NEW, "--color=sometimes"], capture_output=True, text=True,
        check=False,
    )
    check(
        wrong.returncode == 2 and "--color is auto, always or never" in wrong.stderr,
        "a wrong word is told",
        wrong.stderr,
    )


def check_shell():
    pid, terminal = start("diff", OLD, NEW)
    end = time.monotonic() + LIMIT_S

    def wait_for(wanted):
        text = ""
        while wanted not in CONTROLS.sub("", text):
            part = read_on(terminal, end)
            if part is None:
                raise SystemExit(f"FAIL: the shell has ended: {text!r}")
            text += part.decode("utf-8")
        return text

    def ask(line):
        os.write(terminal, line.encode() + b"\n")
        return wait_for("\n" + PROMPT)

    wait_for(PROMPT)
    answer = ask("text")
    check(f"{MORE}      400B{END}" in answer, "the shell's views have colour", answer)
    ask("color=never")
    answer = ask("text")
    check("400B" in answer and MORE not in answer, "until it is refused", answer)
    ask("color=always")
    ask(f"text > {DIRECTORY}/shell.txt")
    with open(f"{DIRECTORY}/shell.txt", encoding="utf-8") as file:
        written = file.read()
    check("400B" in written and "\x1b" not in written, "its files have none", written)
    os.write(terminal, b"quit\n")
    while read_on(terminal, end) is not None:
        pass
    os.close(terminal)
    check(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "the shell ends well", "")


def main():
    check_comparison()
    check_views()
    check_files()
    check_usage()
    check_shell()
    print("colours: ok")


if __name__ == "__main__":
    main()
