#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types at the shell of `heapinject report FILE` through a pseudo-terminal.

  drive.py HEAPINJECT FILE DIRECTORY

The last line is `shell: ok`.
"""
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import time

HEAPINJECT, HEAP, DIRECTORY = sys.argv[1:4]
PROMPT = "(heapinject) "
LIMIT_S = 60
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r|\a")


class Shell:
    """One shell on a terminal of its own."""

    def __init__(self, *options, command="report", **environment):
        variables = {
            "PATH": os.environ["PATH"], "TERM": "xterm", "HOME": DIRECTORY, "LC_ALL": "C.UTF-8",
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""),
        }
        variables.update(environment)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(DIRECTORY)
            os.execve(
                HEAPINJECT,
                [HEAPINJECT, command, *options, HEAP],
                {k: v for k, v in variables.items() if v is not None},
            )
        self.text = ""
        self.wait_for(PROMPT)

    def read_some(self, end):
        if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
            raise SystemExit(f"FAIL: nothing more within {LIMIT_S} s, after: {self.text!r}")
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        self.text += CONTROLS.sub("", data.decode("utf-8", "replace"))
        return bool(data)

    def wait_for(self, wanted, start=0):
        """What came up to and with the wanted text."""
        end = time.monotonic() + LIMIT_S
        while wanted not in self.text[start:]:
            if not self.read_some(end):
                raise SystemExit(f"FAIL: ended before {wanted!r}, after: {self.text!r}")
        at = self.text.index(wanted, start) + len(wanted)
        taken, self.text = self.text[:at], self.text[at:]
        return taken

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def ask(self, line):
        """What is shown from a line on, up to the next prompt."""
        self.type(line + "\n")
        return self.wait_for("\n" + PROMPT)

    def end(self, line):
        """By that line; the exit status must be 0."""
        self.type(line)
        limit = time.monotonic() + LIMIT_S
        while self.read_some(limit):
            pass
        os.close(self.terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        check(status == 0, f"exit status {status}", self.text)


def check(is_right, what, text):
    if not is_right:
        raise SystemExit(f"FAIL: {what}:\n{text}")
    print(f"{what}: ok")


def line_with(text, words):
    return next((line for line in text.split("\n") if words in line), "")


def main():
    shell = Shell()
    answer = shell.ask("top")
    check(
        "keep_apples" in answer and "keep_pears" in answer and "flat%" in answer,
        "top is a table",
        answer,
    )
    check(answer.count("%") > 8 and "main" in answer, "top has callers", answer)
    answer = shell.ask("top 1")
    check("keep_apples" in answer and "keep_pears" not in answer, "top 1 is one row", answer)
    shell.type("list keep_ap\t")
    shell.wait_for("keep_apples ")
    answer = shell.ask("")
    check(
        "malloc(size); /* mark: apples */" in answer and "ROUTINE" in answer,
        "a function's name is completed, and list shows its source",
        answer,
    )
    shell.type("list keep_\t\t")
    answer = shell.wait_for("keep_pears\n")
    check("keep_apples\n" in answer, "names that begin alike are listed", answer)
    shell.type("\x03")
    shell.wait_for("^C\n" + PROMPT)
    answer = shell.ask("disasm keep_pears")
    check(
        "call" in answer and "keep_pears" in answer and "target.c:" in answer,
        "disasm shows instructions",
        answer,
    )

    answer = shell.ask("alloc_space")
    check("unknown" not in answer, "a type is a word", answer)
    check("allocated" in line_with(shell.ask("top"), "Total:"), "the type is in force", "")
    shell.ask("sample_index=inuse_objects")
    answer = shell.ask("options")
    check(
        is_set(answer, "sample_index", "inuse_objects"),
        "one type takes the place of the other",
        answer,
    )
    check(is_set(shell.ask("o"), "sample_index", "inuse_objects"), "o is options", "")
    shell.ask("sample_index=1")
    answer = shell.ask("options")
    check(is_set(answer, "sample_index", "alloc_space"), "a type by its number", answer)
    check("default is inuse_space" in line_with(answer, "sample_index"), "and the default", answer)
    for number in ("9", "-1"):
        answer = shell.ask(f"sample_index={number}")
        check(f'not "{number}"' in answer, "a number that is none", answer)
    check(is_set(shell.ask("o"), "sample_index", "alloc_space"), "changes nothing", "")
    shell.ask("sample_index=")
    check_initial(shell, "the default again")
    shell.ask("limit=1")
    answer = shell.ask("text")
    check(
        "keep_apples" in answer and "keep_pears" not in answer, "an option stays in force", answer
    )
    shell.ask("limit=")
    answer = shell.ask("text --limit=2 --sort cum")
    check("main" in answer and "keep_pears" not in answer, "options of one view", answer)
    answer = shell.ask("text")
    check("keep_pears" in answer, "an option is gone once unset", answer)
    answer = shell.ask("text --unit=mb")
    check("MB" in line_with(answer, "keep_apples"), "a unit for one view", answer)
    answer = shell.ask("text")
    check("MB" not in line_with(answer, "keep_apples"), "is not that of the next", answer)
    answer = shell.ask("limit=x")
    check("wants a number" in answer, "a wrong value is told", answer)
    check_initial(shell, "and not set")
    if (
        "unknown option"
        not in subprocess.run(
            [HEAPINJECT, "report", "--focus", "x", HEAP], capture_output=True, text=True,
            check=False,
        ).stderr
    ):
        shell.ask("focus=keep_pears")
        answer = shell.ask("collapsed")
        check(
            "keep_pears" in answer and "keep_apples" not in answer,
            "focus leaves others out",
            answer,
        )
        shell.ask("focus=")
        answer = shell.ask("collapsed -keep_pears")
        check("keep_pears " not in answer and "keep_apples" in answer, "-REGEX ignores", answer)
    else:
        check(
            "no option" in shell.ask("focus=keep_pears"), "there are no filters, which is told", ""
        )

    check_words_of_pprof(shell)
    answer = shell.ask("nonsense 3")
    check('unknown command "nonsense"' in answer, "an unknown command", answer)
    answer = shell.ask("list [")
    check("no regular expression" in answer, "a wrong expression", answer)
    answer = shell.ask("list")
    check("wants an argument" in answer, "no expression", answer)
    answer = shell.ask('top "x')
    check("quote" in answer, "an open quote", answer)
    answer = shell.ask("text > /nonexistent/file")
    check("cannot write /nonexistent/file" in answer, "a file that cannot be written", answer)
    answer = shell.ask("text --nonsense")
    check("unknown option" in answer, "an unknown option", answer)

    answer = shell.ask("collapsed > out.collapsed")
    written = subprocess.run(
        [HEAPINJECT, "report", HEAP, "--collapsed"], capture_output=True, text=True, check=True
    ).stdout
    with open(f"{DIRECTORY}/out.collapsed", encoding="utf-8") as file:
        text = file.read()
    check(
        text == written and "keep_apples" in text,
        "a view goes into a file as it does without the shell",
        text,
    )
    check(
        "keep_apples" not in answer.split("out.collapsed", 1)[1], "and not to the terminal", answer
    )

    answer = shell.ask("help")
    check(
        all(word in answer for word in ("top", "list", "collapsed", "quit", "limit")),
        "help lists what there is",
        answer,
    )
    check("bytes allocated" in shell.ask("help inuse-space"), "help says what an option is for", "")
    check_interrupt(shell)
    check_weblist(shell)
    check_web(shell)
    shell.end("quit\n")
    check_history()
    check_comparison()
    check_piped()
    print("shell: ok")


def rows_of(answer):
    return [line for line in answer.split("\n") if line.count("%") == 3]


def is_set(answer, name, value):
    return re.search(rf"^ *{name} += {re.escape(value)}( |\r?$)", answer, re.M) is not None


def check_initial(shell, what):
    """Nothing is set: each option has its default."""
    answer = shell.ask("o")
    check(
        "default is" not in answer
        and all(
            is_set(answer, name, value)
            for name, value in (
                ("nodecount", "-1"), ("trim", "true"), ("sort", "flat"), ("mean", "false"),
                ("granularity", "functions"), ("sample_index", "inuse_space"), ("focus", '""'),
                ("nodefraction", "0.005"), ("tagroot", '""'), ("call_tree", "false"),
            )
        ),
        what,
        answer,
    )


def check_rows(shell):
    """How many rows top has by nodecount, as a setting and as a word, as in go tool pprof."""
    every = len(rows_of(shell.ask("text --no-trim"))) - 1  # without the heading
    for setting, word, wanted in (
        ("-1", "", 10), ("0", "", every), ("-5", "", every), ("2", "", 2), ("2", " -1", 10),
        ("2", " 0", every), ("2", " -7", every), ("2", " 1", 1),
    ):
        shell.ask(f"nodecount={setting}")
        answer = shell.ask(f"top{word} --nodefraction=0")
        check(len(rows_of(answer)) - 1 == min(wanted, every), f"{setting}: top{word}", answer)
    shell.ask("nodecount=")


def check_words_of_pprof(shell):
    """What its shell takes, and what is near to a name."""
    answer = shell.ask("top1")
    check("keep_apples" in answer and "keep_pears" not in answer, "top1 is one row", answer)
    answer = shell.ask("text1 keep_pears")
    check("keep_pears" in answer and "keep_apples" not in answer, "text1, too", answer)
    whole = rows_of(shell.ask("text --no-trim"))
    for setting in (
        "nodecount=0", "nodecount=-1", "unit=auto", "trim=false", "granularity=functions",
    ):
        answer = shell.ask(setting)
        check('"' not in answer and "wants" not in answer, setting, answer)
    answer = shell.ask("text")
    check(whole and rows_of(answer) == whole, "all of them are in force", answer)
    check(is_set(shell.ask("o"), "trim", "false"), "trim=false is set", "")
    for name in ("nodecount", "unit", "trim", "granularity"):
        check("not set" not in shell.ask(f"{name}="), f"{name}=", "")
    check("bytes: Total" in shell.ask("tags"), "tags is a view", "")
    check("Samples:" in shell.ask("raw"), "raw is one, too", "")
    check("heapinject" in shell.ask("comments"), "and comments", "")
    shell.ask("proto > own.pb.gz")
    check(os.path.getsize(f"{DIRECTORY}/own.pb.gz") > 0, "proto goes into a file", "")
    shell.ask("granularity=filefunctions")
    answer = shell.ask("top")
    check(re.search(r"keep_apples \S*target\.c$", answer.replace("\r", ""), re.M),
          "rows are functions of files", answer)
    shell.ask("granularity=files")
    answer = shell.ask("text")
    check("target.c" in answer and "keep_" not in answer, "rows are files", answer)
    shell.ask("unset granularity")
    shell.ask("cum")
    check(is_set(shell.ask("o"), "sort", "cum"), "cum is an option", "")
    shell.ask("cum=false")
    check_initial(shell, "and cum=false takes it back")
    shell.ask("lines")
    shell.ask("files")
    answer = shell.ask("o")
    check(is_set(answer, "granularity", "files"), "one granularity takes another's place", answer)
    shell.ask("granularity=")
    check_rows(shell)
    shell.ask("mean_inuse_space")
    answer = shell.ask("o")
    check(is_set(answer, "mean", "true") and is_set(answer, "sample_index", "inuse_space"),
          "mean_TYPE", answer)
    shell.ask("total_inuse_space")
    check(is_set(shell.ask("o"), "mean", "false"), "total_TYPE", "")
    shell.ask("unset sample_index")
    for name in ("focus", "ignore", "hide", "tagfocus", "tagignore"):
        shell.ask(f"{name}=x")
    shell.ask(":")
    check_initial(shell, "a colon clears what chooses")
    for typed, meant in (
        ("tpo", "top"), ("collapsd 3", "collapsed"), ("foucs=x", "focus"),
        ("nodecuont=3", "nodecount"), ("help colapsed", "collapsed"), ("granul", "granularity"),
        ("text --nodecont=3", "--nodecount"),
    ):
        answer = shell.ask(typed)
        check(f"did you mean {meant}?" in answer, f"{typed}: {meant} is near", answer)


def check_interrupt(shell):
    """A view that waits for a reader of its output, a pipe, ends at Ctrl-C, and the shell goes on.
    It must leave no process behind.
    """
    os.mkfifo(f"{DIRECTORY}/fifo")
    reader = os.open(f"{DIRECTORY}/fifo", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(f"{DIRECTORY}/fifo", os.O_WRONLY | os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    shell.type("collapsed > fifo\n")
    end = time.monotonic() + LIMIT_S
    while not any(
        "pipe_write" in wchan or state == "S" and is_writing
        for wchan, state, is_writing in children_of(shell.pid)
    ):
        check_time(end)
    shell.type("\x03")
    answer = shell.wait_for("\n" + PROMPT)
    check("ended" in answer, "Ctrl-C ends a view", answer)
    check("keep_apples" in shell.ask("top"), "and not the shell", "")
    os.close(reader)
    os.close(writer)


def check_time(end):
    if time.monotonic() > end:
        raise SystemExit("FAIL: no view waits for its output")
    time.sleep(0.01)


def children_of(pid):
    """Where the children of a process wait: (name in the kernel, state, whether in write(2))."""
    found = []
    for child in subprocess.run(
        ["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True, check=False
    ).stdout.split():
        try:
            with open(f"/proc/{child}/wchan", encoding="ascii") as wchan, open(
                f"/proc/{child}/stat", encoding="ascii"
            ) as state, open(f"/proc/{child}/syscall", encoding="ascii") as call:
                found.append(
                    (
                        wchan.read(),
                        state.read().rsplit(")", 1)[1].split()[0],
                        call.read().split()[0] == "1",
                    )
                )
        except OSError:
            pass
    return found


def check_weblist(shell):
    """A page in a file; without one, for a browser."""
    shell.ask("weblist keep_pears > pears.html")
    with open(f"{DIRECTORY}/pears.html", encoding="utf-8") as file:
        page = file.read()
    check("<h2>keep_pears</h2>" in page and "<summary" in page, "weblist goes into a file", page)
    answer = shell.ask("weblist keep_pears")
    path = re.search(r"(/\S+\.html): written", answer)
    check(path, "or where a browser finds it", answer)
    os.unlink(path.group(1))


def check_web(shell):
    """The named file exists. With a display, the xdg-open in PATH shows it."""
    answer = shell.ask("web collapsed")
    path = re.search(r"(/\S+\.collapsed): written; there is no", answer)
    check(
        path and "keep_apples" in open(path.group(1), encoding="utf-8").read(),
        "web without a display says where the file is",
        answer,
    )
    check(stat.S_IMODE(os.stat(path.group(1)).st_mode) == 0o600, "which is for its owner alone", "")
    os.unlink(path.group(1))
    if not shutil.which("dot"):
        print("dot is not installed: the graph itself is not asked for")
    programs = f"{DIRECTORY}/bin"
    os.mkdir(programs)
    with open(f"{programs}/xdg-open", "w", encoding="utf-8") as file:
        file.write(
            f'#!/bin/sh\nprintf "%s" "$1" >"{DIRECTORY}/shown.part" && '
            f'mv "{DIRECTORY}/shown.part" "{DIRECTORY}/shown"\n'
        )
    os.chmod(f"{programs}/xdg-open", 0o755)
    other = Shell(
        PATH=f"{programs}:{os.environ['PATH']}", DISPLAY=":0", XDG_STATE_HOME=f"{DIRECTORY}/other",
        TMPDIR=DIRECTORY,
    )
    answer = other.ask("web" if shutil.which("dot") else "web text")
    path = re.search(r"(/\S+): written, and shown", answer)
    check(path, "web with a display", answer)
    end = time.monotonic() + LIMIT_S
    while not os.path.exists(f"{DIRECTORY}/shown"):
        check_time(end)
    with open(f"{DIRECTORY}/shown", encoding="utf-8") as file:
        check(file.read() == path.group(1), "xdg-open gets the file", "")
    other.end("\x04")


def check_history():
    path = f"{DIRECTORY}/.local/state/heapinject/history"
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the history is for its owner alone", "")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    check("top 1\n" in text and text.endswith("quit\n"), "the history has the lines", text)
    shell = Shell()
    shell.type("\x1b[A\x1b[A")
    shell.wait_for("web collapsed")
    shell.type("\x03")
    shell.wait_for("^C\n" + PROMPT)
    check("nonsense 3" in shell.ask("history"), "the next shell knows them", "")
    shell.end("quit\n")
    moved = Shell(XDG_STATE_HOME=f"{DIRECTORY}/state")
    moved.end("exit\n")
    check(os.path.exists(f"{DIRECTORY}/state/heapinject/history"), "XDG_STATE_HOME says where", "")
    Shell(HOME=None).end("quit\n")
    if os.geteuid() == 0:
        os.mkdir(f"{DIRECTORY}/another")
        os.chown(f"{DIRECTORY}/another", 65534, 65534)
        Shell(HOME=f"{DIRECTORY}/another").end("quit\n")
        check(
            not os.listdir(f"{DIRECTORY}/another"), "nothing of root's in another user's home", ""
        )
    else:
        print("not root: another user's home is not tried")
    os.chmod(path, 0o644)
    Shell().end("quit\n")
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "and its mode is seen to", "")


def check_comparison():
    """A profile has its own sample types, old and new, by either name of the comparison, and the
    options of the command line are in force.
    """
    for options in (("--base", HEAP), ("--alloc-space", "--base", HEAP)):
        shell = Shell(*options)
        answer = shell.ask("collapsed")
        check(re.search(r"keep_apples (\d+) \1\b", answer), "compared with itself", answer)
        check(
            is_set(shell.ask("options"), "sample_index", "alloc_space")
            == ("--alloc-space" in options),
            "what the command line has set",
            "",
        )
        shell.end("quit\n")
    shell = Shell(HEAP, command="diff")
    check(
        re.search(r"keep_apples (\d+) \1\b", shell.ask("collapsed"))
        and "unknown" not in shell.ask("top 3"),
        "diff",
        "",
    )
    shell.end("quit\n")


def check_piped():
    """Text as ever where the output, or the input, is no terminal."""
    text = subprocess.run(
        [HEAPINJECT, "report", HEAP], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=True,
    ).stdout
    check("keep_apples" in text and PROMPT not in text, "piped output is text", text)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(HEAPINJECT, [HEAPINJECT, "report", HEAP, "--collapsed"])
    text = b""
    try:
        while data := os.read(terminal, 65536):
            text += data
    except OSError:
        pass
    os.close(terminal)
    check(
        os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        and b"keep_apples" in text
        and PROMPT.encode() not in text,
        "a view that is named is just shown",
        text,
    )


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main()
