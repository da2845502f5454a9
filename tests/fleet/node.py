# SPDX-License-Identifier: MIT
"""A node: a containerd of its own, with images, and a network that leads nowhere.

Everything is below one directory, but for control groups, a bridge, and what shims and network
plugins keep in /run/containerd and /var/lib/cni. close() ends and removes all of that, and returns
what stays.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time

from cri import Cri, CriError
from processes import Failed, end, launch, read
from roots import run

HERE = os.path.dirname(os.path.abspath(__file__))
START_SECONDS = 30
END_SECONDS = 20
CGROUPS = "/sys/fs/cgroup"
# What containerd and libcni keep there cannot be put anywhere else.
FIXED_DIRECTORIES = ["/run/containerd/s", "/run/containerd", "/var/lib/cni/results", "/var/lib/cni"]

CONFIG = """\
version = 2
root = "{directory}/root"
state = "{directory}/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[grpc]
  address = "{directory}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "{directory}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  netns_mounts_under_state_dir = true
  # without CAP_SYS_RESOURCE no process may be made less likely to be killed than containerd is
  restrict_oom_score_adj = true
  disable_cgroup = {without_limits}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{directory}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = "{directory}/runc"
"""


def is_overlay_possible(directory):
    for each in ("lower", "upper", "work", "merged"):
        os.makedirs(f"{directory}/overlay/{each}")
    below = f"{directory}/overlay"
    done = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "overlay", "overlay", "-o",
         f"lowerdir={below}/lower,upperdir={below}/upper,workdir={below}/work", f"{below}/merged"],
        capture_output=True, check=False)
    shutil.rmtree(below)
    return done.returncode == 0


def mounts_below(directory):
    """The innermost first."""
    places = [line.split()[4] for line in read("/proc/self/mountinfo").splitlines()]
    return [place for place in reversed(places) if place.startswith(directory + "/")]


def processes_with(text):
    """Numbers of processes that have it in their command line, but this one."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if text in read(path) and path != f"/proc/{os.getpid()}/cmdline":
                found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def cgroup_version():
    return 2 if os.path.exists(f"{CGROUPS}/cgroup.controllers") else 1


def has_limits():
    return cgroup_version() == 1 or "memory" in read(f"{CGROUPS}/cgroup.controllers").split()


class Node:
    pause = "heapinject.test/pause:1"

    def __init__(self, directory):
        self.directory, self.name = directory, f"heapinject-{os.getpid()}"
        self.address = f"{directory}/containerd.sock"
        self.bridge = f"hi{os.getpid()}"
        self.snapshotter = "overlayfs" if is_overlay_possible(directory) else "native"
        self.fixed = [each for each in FIXED_DIRECTORIES if not os.path.exists(each)]
        self.config_maps, self.secrets, self.sandboxes = {}, {}, []
        self.process = self.cri = None

    def start(self):
        for each in ("cni", "generated", "logs", "pods", "host"):
            os.makedirs(f"{self.directory}/{each}")
        with open(f"{self.directory}/config.toml", "w", encoding="utf-8") as file:
            file.write(CONFIG.format(
                directory=self.directory, pause=self.pause, snapshotter=self.snapshotter,
                without_limits="false" if has_limits() else "true"))
        with open(f"{self.directory}/cni/10-bridge.conflist", "w", encoding="utf-8") as file:
            json.dump({"cniVersion": "0.4.0", "name": self.name, "plugins": [
                {"type": "bridge", "bridge": self.bridge, "isGateway": False,
                 "ipam": {"type": "host-local", "subnet": "198.18.0.0/24",
                          "dataDir": f"{self.directory}/addresses"}}]}, file)
        run(["protoc", f"-I{HERE}", f"--python_out={self.directory}/generated", "cri.proto"])
        with open(f"{self.directory}/containerd.log", "wb") as log:
            self.process = launch(["containerd", "--config", f"{self.directory}/config.toml"],
                                  stdout=log, stderr=log)
        self.cri = Cri(self.address, f"{self.directory}/generated")
        self.wait_until(self.is_up, START_SECONDS, "containerd does not answer")

    def is_up(self):
        try:
            return self.cri.call("Version", seconds=1)
        except CriError:
            if self.process.poll() is not None:
                raise Failed(f"containerd ended: {self.last_words()}") from None
            return None

    def last_words(self):
        return read(f"{self.directory}/containerd.log")[-1000:]

    @staticmethod
    def wait_until(what, seconds, otherwise):
        limit = time.monotonic() + seconds
        while True:
            value = what()
            if value:
                return value
            if time.monotonic() > limit:
                raise Failed(otherwise)
            time.sleep(0.05)

    def describe(self):
        version = self.cri.call("Version")
        conditions = self.cri.call("Status").status.conditions
        unready = [f"{each.type}: {each.message}" for each in conditions if not each.status]
        if unready:
            raise Failed("; ".join(unready))
        runc = run(["runc", "--version"]).split("\n")[0]
        limits = "" if has_limits() else " without limits"
        return (f"{version.runtime_name} {version.runtime_version}, {runc}, {self.snapshotter}, "
                f"cgroups v{cgroup_version()}{limits}; "
                + ", ".join(each.type for each in conditions))

    def import_image(self, archive, name):
        run(["ctr", "--address", self.address, "--namespace", "k8s.io", "images", "import",
             "--snapshotter", self.snapshotter, archive])
        self.wait_until(
            lambda: self.cri.call("ImageStatus", "ImageService",
                                  image={"image": name}).HasField("image"),
            START_SECONDS, f"the image {name} is not known")

    def host_path(self, path):
        """Where the node's directory of that name is. What the kernel makes is that of the machine.
        """
        return path if re.match(r"/(sys|proc)(/|$)", path) else f"{self.directory}/host{path}"

    # ---- the end ---------------------------------------------------------------------------------

    def close(self):
        """Returns lines that say what stays."""
        for sandbox in reversed(self.sandboxes):
            for name in ("StopPodSandbox", "RemovePodSandbox"):
                try:
                    self.cri.call(name, pod_sandbox_id=sandbox)
                except CriError:
                    pass  # what stays is named
        if self.cri:
            self.cri.close()
        if self.process and self.process in self.launched():
            end(self.process, signal.SIGTERM, END_SECONDS)
        left = self.end_shims() + self.unmount()
        subprocess.run(["ip", "link", "delete", self.bridge], capture_output=True, check=False)
        left += self.remove_cgroups()
        shutil.rmtree(self.directory, ignore_errors=True)
        for each in self.fixed:
            try:
                os.rmdir(each)
            except OSError:
                pass
        return left + [each for each in [self.directory, *self.fixed] if os.path.exists(each)]

    def launched(self):
        return [self.process] if self.process.returncode is None else []

    def end_shims(self):
        limit, left = time.monotonic() + END_SECONDS, []
        while time.monotonic() < limit and (left := processes_with(self.directory)):
            time.sleep(0.1)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return [f"process {pid}" for pid in left]

    def unmount(self):
        """The kubelet's own tmpfs are no remains."""
        left = []
        for place in mounts_below(self.directory):
            if not place.startswith(f"{self.directory}/pods/"):
                left.append(f"mounted: {place}")
            subprocess.run(["umount", "--lazy", place], check=False)
        return left

    def remove_cgroups(self):
        left = []
        for top in glob.glob(f"{CGROUPS}/*/{self.name}") + glob.glob(f"{CGROUPS}/{self.name}"):
            for directory, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(directory)
                except OSError:
                    left.append(f"control group: {directory}")
        return left
