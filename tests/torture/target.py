# SPDX-License-Identifier: MIT
"""A row of the table as a running process.

The process is built, started, asked, compared with what it was, and stopped. This signals only
processes that it started, by the pid that starting them gave.
"""
import contextlib
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from observe import Observer, kept_pages, live_task
from session import Lines
from stops import Starved, Stops
from table import Broken, Server, Skip, parse_state

HERE = os.path.dirname(os.path.abspath(__file__))
START_SECONDS = 60
ANSWER_SECONDS = 60
END_SECONDS = 10  # a core may have to be written
PROGRESS_SECONDS = 30
WARM_UP_SECONDS = 0.3  # until every thread has its arena


def missing(target):
    """Why the row cannot run here, or ''."""
    for program in target.needs:
        if not shutil.which(program):
            return f"{program} is not installed"
    return target.available() if target.available else ""


class Builder:
    """Compiles targets/NAME.c once for each set of flags. lib*.c become shared objects beside them.
    A source that needs another of these says so, and is built after it.
    """

    def __init__(self, directory, compiler):
        self.directory, self.compiler, self.lock = directory, compiler, threading.Lock()
        os.makedirs(directory, exist_ok=True)
        for source in sorted(glob.glob(f"{HERE}/targets/lib*.c")):
            with open(source, encoding="utf-8") as file:
                needed = re.findall(r"^/\* needs (lib\w+\.so) \*/$", file.read(), re.M)
            self.compile(
                source,
                f"{directory}/{os.path.basename(source)[:-2]}.so",
                ["-fPIC", "-shared", "-Wl,--no-as-needed"],
                compiler,
                [f"{directory}/{name}" for name in needed],
            )

    def path(self, target):
        """The program of a row: built, or found; None for rows that start by themselves."""
        if not target.command:
            return None
        word = target.command[0].replace("{build}", self.directory)
        source = next(
            (
                path
                for path in (f"{HERE}/targets/{word}{suffix}" for suffix in (".c", ".cc"))
                if os.path.exists(path)
            ),
            None,
        )
        if "/" in word or not source:
            return word if "/" in word else shutil.which(word)
        compiler = target.compiler or self.compiler
        if source.endswith(".cc"):
            compiler = "clang++" if "clang" in compiler else "g++"
        variant = "".join(
            c if c.isalnum() else "_" for c in "".join([target.compiler, *target.cflags])
        )
        output = f"{self.directory}/{word}" + (f".{variant}" if variant else "")
        with self.lock:
            self.compile(source, output, ["-rdynamic"], compiler, target.cflags)
        return output

    def compile(self, source, output, flags, compiler, more=()):
        newest = max(os.path.getmtime(path) for path in (source, *glob.glob(f"{HERE}/targets/*.h")))
        if os.path.exists(output) and os.path.getmtime(output) > newest:
            return
        new = f"{output}.{os.getpid()}"
        words = shlex.split(compiler)
        if not shutil.which(words[0]):
            raise Skip(f"{os.path.basename(output)} is not built, and there is no {words[0]}")
        command = [
            *words, "-D_GNU_SOURCE", "-O1", "-g", "-pthread",
            f"-I{HERE}/targets/arch/{os.uname().machine}", f"-I{HERE}/targets", *flags, "-o", new,
            source, *more, "-ldl", "-lm",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Skip(f"{os.path.basename(source)} does not build: {done.stderr.strip()}")
        os.rename(new, output)


class Running:
    """One process of a row. .pid is whom to attach to."""

    def __init__(self, target, program):
        self.target, self.program = target, program
        self.directory = tempfile.mkdtemp(prefix="torture.")
        self.process = self.server = self.lines = self.pid = None
        self.figures, self.progress = {}, 0
        self.starved, self.stops = Starved(), None
        # As the target counts them, and what the last cycle added.
        self.eintr = self.lost = self.new_eintr = self.new_lost = 0
        self.has_ended = False
        # At the last observation: how often it had copied, and pages that stay. Since then it was
        # seen to copy.
        self.copies, self.kept, self.has_copied = 0, 0, False
        try:
            self.start()
        except BaseException:
            self.kill()
            raise

    def start(self):
        if self.target.start:
            self.server = self.target.start(self.directory)
            assert isinstance(self.server, Server), self.target.name
            self.pid = self.server.pid
        else:
            self.start_command()
        time.sleep(WARM_UP_SECONDS)
        self.check_alive()
        self.ask_progress()
        if self.target.copies:
            self.copies = self.count_copies()
        self.observer = Observer(
            self.pid, self.target.varies, bool(self.target.copies), self.target.compares_all
        )
        self.stops = Stops(self.pid)

    def fill_in(self, word):
        return word.replace("{directory}", self.directory).replace(
            "{build}", os.path.dirname(self.program or "")
        )

    def start_command(self):
        argv = [self.program] + [self.fill_in(word) for word in self.target.command[1:]]
        if callable(self.target.wrapper):
            argv = self.target.wrapper(argv, self.directory)
        elif self.target.wrapper:
            argv = [self.fill_in(word) for word in self.target.wrapper] + argv
        # The injector's own work must not starve: how long things take is measured elsewhere.
        if self.target.is_storm:
            argv = ["nice", "-n", "10", *argv]
        environment = {
            **os.environ,
            **{name: self.fill_in(value) for name, value in self.target.environment.items()},
        }
        with open(f"{self.directory}/errors", "wb") as errors:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self.directory,
                env=environment,
                # As a service has: the kernel shares the CPUs between
                # sessions.
                start_new_session=True,
            )
        if self.target.is_storm:
            with contextlib.suppress(OSError):
                # Where sessions share the CPUs, a thread's own niceness counts only within its own
                # session.
                with open(f"/proc/{self.process.pid}/autogroup", "w", encoding="ascii") as session:
                    session.write("10")
        self.lines = Lines(self.process.stdout)
        line = self.lines.next(START_SECONDS)
        if line != "ready":
            raise Broken(f"{self.target.name} does not begin: {line!r} {self.errors()}")
        self.pid = self.find_pid()
        if self.target.once_ready:
            self.target.once_ready(self.pid)

    def find_pid(self):
        """Behind a wrapper that forks, the process that runs the program; among copies of the
        program, the innermost.
        """
        queue, pid = [self.process.pid], None
        while queue:
            pid = queue.pop(0)
            try:
                if os.path.samefile(f"/proc/{pid}/exe", self.program):
                    return pid
                for tid in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as children:
                        queue += [int(child) for child in children.read().split()]
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return pid

    def errors(self):
        try:
            with open(f"{self.directory}/errors", encoding="utf-8", errors="replace") as file:
                return file.read()[-2000:].strip()
        except OSError:
            return ""

    # ---- asking ----

    def tell(self, word):
        try:
            self.process.stdin.write(f"{word}\n".encode())
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # whoever waits for the answer hears of it

    def ask(self, word):
        self.tell(word)
        line = self.lines.next(ANSWER_SECONDS)
        if line is None:
            if self.lines.is_over:
                self.wait_end(END_SECONDS)
            self.check_alive()
            raise Broken(f"the target does not answer to: {word}")
        first, _, rest = line.partition(" ")
        if first != word:
            raise Broken(f"the target answers to {word}: {line}")
        return parse_state(rest)

    def ask_state(self):
        self.figures = (
            parse_state(self.target.probe(self.server) or "ok")
            if self.target.probe
            else self.ask("state")
            if self.process
            else {}
        )
        return self.figures

    def ask_progress(self):
        """Its state once every thread has gone on, with the longest gap since the last time."""
        figures, gap, pause = self.ask_state(), 0, 0.002
        end = time.monotonic() + PROGRESS_SECONDS
        while True:
            gap = max(gap, figures.get("gap_us", 0))
            if "progress" not in figures or figures["progress"] > self.progress:
                break
            if time.monotonic() > end:
                raise Broken(f"no progress for {PROGRESS_SECONDS} s: {figures}")
            time.sleep(pause)
            pause = min(2 * pause, 0.2)
            figures = self.ask_state()
        self.progress = figures.get("progress", 0)
        return {
            **figures, "gap_us": gap, "starved_us": self.starved.take_longest_us(self.pid),
            "held_s": self.stops.take_longest_s() if self.stops else 0,
        }

    def check_alive(self):
        """Broken, with the signal, if the target died."""
        status = self.process.poll() if self.process and self.process.pid == self.pid else None
        if status is not None:
            self.has_ended = True
            how = (
                f"killed by {signal.Signals(-status).name}"
                if status < 0
                else f"exit status {status}"
            )
            raise Broken(f"the target died: {how}; {self.errors()}")
        live_task(self.pid)

    def verify(self, eintr_is_ours=True):
        """Checks after a cycle: alive, all threads getting on, nothing lost, everything as before.
        eintr_is_ours means that nobody else stopped its threads meanwhile. Returns its figures.
        """
        self.check_alive()
        figures = self.ask_progress()
        self.new_eintr = figures.get("eintr", 0) - self.eintr if eintr_is_ours else 0
        self.new_lost = figures.get("lost", 0) - self.lost
        self.eintr, self.lost = figures.get("eintr", 0), figures.get("lost", 0)
        if self.new_eintr or self.new_lost:
            raise Broken(
                f"the target saw {self.new_eintr} EINTR and lost {self.new_lost} signals "
                "or timer ticks"
            )
        differences = self.observer.differences()
        if differences:
            raise Broken("not as before:\n" + "\n".join(differences))
        if self.target.copies:
            self.check_kept()
        return figures

    # ---- copies of our pointers ----

    def count_copies(self):
        with open(os.path.join(self.directory, self.target.copies), "rb") as file:
            return int.from_bytes(file.read(8), sys.byteorder)

    def wait_for_copies(self):
        """Once a session is attached."""
        end = time.monotonic() + PROGRESS_SECONDS
        while self.count_copies() == self.copies:
            self.check_alive()
            if time.monotonic() > end:
                raise Broken(f"the target has copied nothing for {PROGRESS_SECONDS} s")
            time.sleep(0.0005)
        self.has_copied = True

    def check_kept(self):
        """The page to which copies lead stays, and no page stays without copies. (heapinject may
        have restored copies that the target was just taking before it stored them.)
        """
        copied, stayed = self.count_copies() - self.copies, kept_pages(self.pid) - self.kept
        if not self.has_copied <= stayed <= copied:
            raise Broken(
                f"{stayed} pages of plain jumps have stayed for {copied} times "
                "that addresses were copied"
            )
        self.copies, self.kept, self.has_copied = self.copies + copied, self.kept + stayed, False

    def verify_or_ended(self):
        """For a target that ends by itself: True if it has ended in the right way; else verifies
        it.
        """
        try:
            self.verify()
            return False
        except (Broken, OSError):
            if self.has_ended_as_meant():
                return True
            raise

    def has_ended_as_meant(self):
        try:
            return self.process.wait(END_SECONDS) in self.target.statuses
        except subprocess.TimeoutExpired:
            return False

    # ---- the end ----

    def finish(self):
        """A target that lives to the end verifies all it holds."""
        self.check_alive()
        if self.process and not self.target.probe:
            self.ask("end")
            if self.process.wait(ANSWER_SECONDS):
                raise Broken(
                    f"the target ends with status {self.process.returncode}: {self.errors()}"
                )
            self.has_ended = True

    def wait_end(self, seconds):
        """Exit status of a target that is to end now; Broken if it does not."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Broken(f"the target does not end within {seconds} s") from None
        self.has_ended = True
        return status

    def kill(self):
        if self.stops:
            self.stops.close()
        if self.server:
            self.stop_server()
        if self.process:
            self.process.kill() if self.process.poll() is None else None
            with contextlib.suppress(BrokenPipeError):  # of a word that it did not live to read
                # A target behind a wrapper exits at the end of its input.
                self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def stop_server(self):
        if self.target.stop:
            self.target.stop(self.server)
        for process in reversed(self.server.processes):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
            process.wait()
