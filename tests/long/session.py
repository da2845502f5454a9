# SPDX-License-Identifier: MIT
"""A session of `heapinject attach` that writes profiles by all its triggers, as seen from outside:
its messages, its files while they are there, its status, and the memory of all that take part.
"""
import glob
import json
import os
import re
import signal
import socket
import subprocess
import time

from processes import Failed, end, has_ended, launch, read

PATIENCE_SECONDS = 120
WROTE = re.compile(r"^heapinject: \S+: wrote (\S+) and \S+ \((.*)\)$", re.M)
LOOK_SECONDS = 0.05


class Profile:
    """One that was written: its triggers, and when it was begun, in seconds of the session. None:
    it was removed before it was looked at.
    """

    def __init__(self, path, triggers):
        self.path, self.triggers, self.seconds = path, triggers.split(", "), None
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                for line in file:
                    if line.startswith("# duration_ns "):
                        self.seconds = int(line.split()[2]) / 1e9
                        break
        except OSError:
            pass


class Session:
    def __init__(self, heapinject, pid, prefix, arguments):
        self.heapinject, self.pid, self.prefix = heapinject, pid, prefix
        self.log = prefix + ".log"
        with open(self.log, "wb") as out:
            self.process = launch(
                [heapinject, "attach", str(pid), "-v", "-o", prefix] + arguments,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )
        self.profiles = []
        self.await_said("attached to")
        found = re.search(r"the analyzer is process (\d+)", read(self.log))
        if not found:
            raise Failed(f"no analyzer: {read(self.log)}")
        self.analyzer = int(found[1])

    def await_said(self, text):
        limit = time.monotonic() + PATIENCE_SECONDS
        while text not in read(self.log):
            if has_ended(self.process) or time.monotonic() > limit:
                raise Failed(f"it does not say {text}: {read(self.log)}")
            time.sleep(LOOK_SECONDS)

    def look(self):
        """The profiles that have come since the last look."""
        before = len(self.profiles)
        for path, triggers in WROTE.findall(read(self.log))[before:]:
            self.profiles.append(Profile(path, triggers))
        return self.profiles[before:]

    def await_trigger(self, trigger, since, patience=PATIENCE_SECONDS):
        """Waits for a profile by this trigger after the first `since` ones. Returns whether there
        is one.
        """
        limit = time.monotonic() + patience
        while True:
            self.look()
            if any(trigger in profile.triggers for profile in self.profiles[since:]):
                return True
            if has_ended(self.process):
                raise Failed(f"the session has ended: {read(self.log)}")
            if time.monotonic() > limit:
                return False
            time.sleep(LOOK_SECONDS)

    def count(self, trigger):
        return sum(trigger in profile.triggers for profile in self.profiles)

    def skipped(self):
        """How often --every found that the last profile was still being written."""
        return read(self.log).count(": no profile, as the one before")

    def files(self):
        """Profiles that are there, without the empty one of the end."""
        paths = glob.glob(f"{self.prefix}.{self.pid}.*.heap")
        return sorted(path for path in paths if size_of(path))

    def run(self, *words):
        done = subprocess.run(
            [self.heapinject, words[0], str(self.pid), *words[1:]], capture_output=True,
            timeout=PATIENCE_SECONDS, check=False,
        )
        if done.returncode:
            raise Failed(f"heapinject {words[0]}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def status(self):
        """On a busy machine a session may take longer to answer than status waits."""
        for _ in range(9):
            try:
                return json.loads(self.run("status", "--json"))["sessions"][0]
            except Failed as error:
                if "does not answer" not in str(error):
                    raise
                print(f"asked again: {error}")
        return json.loads(self.run("status", "--json"))["sessions"][0]

    def send_signal(self):
        os.kill(self.process.pid, signal.SIGUSR1)

    def silent_clients(self, count):
        """Connections that send nothing."""
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        directories = (
            f"{runtime}/heapinject", "/run/heapinject", f"/tmp/heapinject-{os.geteuid()}"
        )
        paths = [f"{directory}/{self.pid}.sock" for directory in directories]
        path = next((path for path in paths if os.path.exists(path)), None)
        if not path:
            raise Failed("the session has no control socket")
        clients = []
        for _ in range(count):
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            clients.append(client)
        return clients

    def finish(self):
        """Ends the session by a request, which must go well."""
        self.run("detach")
        limit = time.monotonic() + PATIENCE_SECONDS
        while not has_ended(self.process) and time.monotonic() < limit:
            time.sleep(LOOK_SECONDS)
        code = end(self.process)
        self.look()
        if code:
            raise Failed(f"attach: exit status {code}: {read(self.log)}")


def size_of(path):
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def anonymous_kb(pid):
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise Failed(f"no RssAnon of {pid}")


def resident_kb(pid):
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise Failed(f"no VmRSS of {pid}")


def ours_kb(pid):
    """Resident pages of what heapinject has mapped into that process."""
    total, is_ours = 0, False
    for line in read(f"/proc/{pid}/smaps").splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            is_ours = "heapinject" in line
        elif is_ours and line.startswith("Rss:"):
            total += int(line.split()[1])
    return total
