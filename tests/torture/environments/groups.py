# SPDX-License-Identifier: MIT
"""Control groups of our own, in the hierarchy that this machine has.

That is version 1, one for each controller, or version 2.
"""
import atexit
import os

from table import Skip

ROOT = "/sys/fs/cgroup"
V2_ROOTS = (f"{ROOT}/unified", ROOT)  # a hybrid set-up has the second version beside the first


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


def root_of(controller, version):
    """Directory in which to make a group, or None. The freezer needs no controller in version 2."""
    if version == 1:
        return (
            f"{ROOT}/{controller}" if os.path.exists(f"{ROOT}/{controller}/cgroup.procs") else None
        )
    for root in V2_ROOTS:
        try:
            with open(f"{root}/cgroup.controllers", encoding="ascii") as file:
                offered = file.read().split()
        except OSError:
            continue
        if controller == "freezer":
            return root
        if controller in offered:
            put(f"{root}/cgroup.subtree_control", f"+{controller}")
            return root
    return None


class Group:
    """.version says which names its files have. Goes with this program, once nobody is in it."""

    made = 0

    def __init__(self, controller, versions=(1, 2)):
        root = None
        for self.version in versions:
            root = root or root_of(controller, self.version)
            if root:
                break
        if not root:
            raise Skip(
                f"no cgroup hierarchy with {controller}, version {' or '.join(map(str, versions))}"
            )
        Group.made += 1
        self.path = f"{root}/heapinject-torture-{os.getpid()}-{Group.made}"
        try:
            os.mkdir(self.path)
        except OSError as error:
            raise Skip(f"cannot make a cgroup in {root}: {error.strerror}") from None
        atexit.register(self.remove)

    def set(self, value, name_v1, name_v2):
        put(f"{self.path}/{name_v1 if self.version == 1 else name_v2}", value)

    def add(self, pid):
        put(f"{self.path}/cgroup.procs", pid)

    def entering(self, argv):
        """The command, run within the group from its first instruction on."""
        return ["sh", "-c", f'echo $$ >{self.path}/cgroup.procs && exec "$@"', "sh", *argv]

    def remove(self):
        try:
            os.rmdir(self.path)
        except OSError:
            pass  # somebody is still in it
