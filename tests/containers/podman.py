# SPDX-License-Identifier: MIT
"""Podman, as root and as a user without rights, on stores of this test's own.

enter() puts the test into a mount namespace, in which the user exists, /run is empty and control
groups are of version 2, as runtimes want them. What is mounted there goes with the last process
there. Everything else is below one directory, but for control groups. close() removes that.
"""
import glob
import os
import re
import resource
import shutil
import subprocess
import time

from roots import run

UID, FIRST_SUBORDINATE, SUBORDINATES = 61234, 700000, 65536
NAME = "heapinject-test"
CGROUPS = "/sys/fs/cgroup"
START_SECONDS, END_SECONDS = 60, 20
ENTERED = "HEAPINJECT_CONTAINERS_ENTERED"

CONFIG = """\
[containers]
default_ulimits = ["nofile={soft}:{hard}", "nproc={processes}:{processes}"]
# where the controller is not there, a limit is refused
pids_limit = 0
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


def enter(arguments):
    """Starts this program again, in a mount namespace of its own."""
    if ENTERED not in os.environ:
        os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", *arguments],
                   {**os.environ, ENTERED: "1"})


def mount(*words):
    run(["mount", *words])


def prepare(directory):
    """The mounts. No file of the machine is written to."""
    for name, line in (("passwd", f"{NAME}:x:{UID}:{UID}::{directory}/user:/bin/sh"),
                       ("group", f"{NAME}:x:{UID}:"),
                       ("subuid", f"{NAME}:{FIRST_SUBORDINATE}:{SUBORDINATES}"),
                       ("subgid", f"{NAME}:{FIRST_SUBORDINATE}:{SUBORDINATES}")):
        here = f"/etc/{name}"
        if not os.path.exists(here):
            raise FileNotFoundError(f"{here}: the package uidmap makes it")
        with open(here, encoding="utf-8") as file, \
                open(f"{directory}/{name}", "w", encoding="utf-8") as out:
            out.write(file.read() + line + "\n")
        mount("--bind", f"{directory}/{name}", here)
    mount("-t", "tmpfs", "tmpfs", "/run")
    if not os.path.exists(f"{CGROUPS}/cgroup.controllers"):
        run(["umount", "--lazy", CGROUPS])
        mount("-t", "cgroup2", "cgroup2", CGROUPS)
    # containers without rights get mounts from it
    mount("--make-rshared", "/")


def capabilities():
    with open("/proc/self/status", encoding="utf-8") as file:
        return int(re.search(r"^CapEff:\s*(\S+)", file.read(), re.M)[1], 16)


class Podman:
    def __init__(self, directory, is_root):
        self.is_root, self.directory = is_root, f"{directory}/{'root' if is_root else 'user'}"
        self.as_user = [] if is_root else [
            "setpriv", f"--reuid={UID}", f"--regid={UID}", "--init-groups", "env", "-i",
            f"PATH={os.environ['PATH']}", f"HOME={self.directory}",
            f"XDG_RUNTIME_DIR={self.directory}/runtime"]
        for each in ("", "/runtime", "/tmp", "/out"):
            os.makedirs(self.directory + each, exist_ok=True)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        processes = min(resource.getrlimit(resource.RLIMIT_NPROC)[1] % 2 ** 63, 4096)
        with open(f"{self.directory}/containers.conf", "w", encoding="utf-8") as file:
            file.write(CONFIG.format(soft=soft, hard=hard, processes=processes))
        for path, _, files in os.walk(self.directory):
            for each in (path, *(os.path.join(path, name) for name in files)):
                os.chown(each, 0 if is_root else UID, 0 if is_root else UID)
        os.chmod(f"{self.directory}/runtime", 0o700)
        self.cgroup = f"/{NAME}-{os.getpid()}"
        self.runtime = "crun"

    def words(self, *words):
        return [*self.as_user, "env", f"CONTAINERS_CONF={self.directory}/containers.conf",
                "podman", "--root", f"{self.directory}/store", "--runroot",
                f"{self.directory}/runroot", "--tmpdir", f"{self.directory}/tmp",
                "--storage-driver", "overlay", "--runtime", self.runtime, *words]

    def call(self, *words):
        return run(self.words(*words), START_SECONDS, cwd=self.directory)

    def run_words(self, *words):
        parent = [f"--cgroup-parent={self.cgroup}"] if self.is_root else []
        return self.words("run", "--network=none", *parent, *words)

    def try_run(self, *words):
        return self.tried(self.run_words("--rm", *words))

    def try_call(self, *words):
        return self.tried(self.words(*words))

    def tried(self, command):
        """(status, what it says on both channels)"""
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=2 * START_SECONDS, check=False, cwd=self.directory)
        return done.returncode, done.stdout

    def load(self, archives):
        for each in archives:
            self.call("load", "--quiet", "--input", each)

    def choose_runtime(self, image):
        """The first that can run a container here; returns what is said of it."""
        why = []
        for self.runtime in ("crun", "runc"):
            status, said = self.try_run("--entrypoint=/bin/sh", image, "-c", "echo works")
            if status == 0 and "works" in said:
                return ", ".join([f"podman {self.version()} with {self.runtime}, "
                                  + ("root" if self.is_root else f"rootless, uid {UID}"), *why])
            why.append(f"not {self.runtime}: {said.strip().splitlines()[-1]}")
        raise OSError("; ".join(why))

    def version(self):
        return self.call("version", "--format", "{{.Client.Version}}").strip()

    def start(self, name, image, *options, words=()):
        run(self.run_words("--detach", f"--name={name}", *options, image, *words), START_SECONDS,
            cwd=self.directory)
        return self.pid(name)

    def pid(self, name):
        return int(self.call("inspect", "--format={{.State.Pid}}", name))

    def log(self, name):
        return self.try_call("logs", name)[1]

    # ---- the end ---------------------------------------------------------------------------------

    def close(self):
        """Returns lines that say what stays."""
        self.try_call("rm", "--all", "--force", "--time=2")
        if not self.is_root:
            self.try_call("system", "migrate")  # ends the process that keeps the namespaces
        for line in reversed(open("/proc/self/mountinfo", encoding="utf-8").readlines()):
            place = line.split()[4]
            if place.startswith(self.directory + "/"):
                subprocess.run(["umount", "--lazy", place], check=False)
        # what cleans up after a container may still write to the store
        limit = time.monotonic() + END_SECONDS
        while os.path.exists(self.directory) and time.monotonic() < limit:
            shutil.rmtree(self.directory, ignore_errors=True)
        left = self.remove_cgroups()
        return left + [f"process {pid}" for pid in self.processes()] + [
            each for each in [self.directory] if os.path.exists(each)]

    def remove_cgroups(self):
        left = []
        for directory, _, _ in os.walk(CGROUPS + self.cgroup, topdown=False):
            try:
                os.rmdir(directory)
            except OSError:
                left.append(f"control group {directory}")
        return left

    def processes(self):
        """Of this store: by what they were started with."""
        found = []
        for path in glob.glob("/proc/[0-9]*"):
            try:
                text = b"".join(open(f"{path}/{each}", "rb").read()
                                for each in ("cmdline", "environ"))
            except OSError:
                continue
            if f"{self.directory}/".encode() in text and path != f"/proc/{os.getpid()}":
                found.append(int(path.split("/")[2]))
        return found
