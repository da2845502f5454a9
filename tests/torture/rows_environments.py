# SPDX-License-Identifier: MIT
"""Rows of hostile environments.

The same self-checking storm runs behind seccomp filters, in containers, under limits, with other
allocators. environments/inside.c makes what a process does to itself, environments/container.c
makes containers, environments/groups.py makes control groups. The rest are ordinary tools in front
of the command. Where heapinject cannot attach, the row says which words the refusal must have.
"""
import glob
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import replace

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "environments")
sys.path.insert(0, HERE)
from groups import Group  # noqa: E402  (the directory is known only now)
from session import Lines  # noqa: E402
from table import Broken, Server, Target  # noqa: E402

STORM = ["malloc_storm", "8"]
SETTLED = ["settled"]
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
MEBI = 1 << 20
BOTH = ("map", "dlopen")
ANSWER_SECONDS = 30


# ---- helpers that are built ----------------------------------------------------------------------


def build(name, directory, *flags):
    """environments/NAME.c, in a directory; the path of what came out."""
    suffix = ".so" if "-shared" in flags else ""
    output = os.path.join(directory, name + suffix)
    source = os.path.join(HERE, f"{name}.c")
    if not os.path.exists(output) or os.path.getmtime(output) < os.path.getmtime(source):
        new = f"{output}.{os.getpid()}.{id(directory)}"
        subprocess.run(
            [
                os.environ.get("CC", "gcc"), "-D_GNU_SOURCE", "-O1", "-g", "-pthread", *flags,
                "-o", new, source,
            ],
            check=True,
        )
        os.rename(new, output)
    return output


def inside(*surroundings, before=()):
    """A wrapper: the program does these to itself, before its main. They do not affect the argv
    prefix `before`.
    """

    def wrap(argv, directory):
        os.chmod(directory, 0o777)  # the program may be somebody else's
        library = build("inside", os.path.dirname(argv[0]), "-shared", "-fPIC")
        made = " ".join(surroundings).replace("{directory}", directory)
        return [*before, "env", f"LD_PRELOAD={library}", f"SURROUNDINGS={made}", *argv]

    return wrap


def libraries_of(program):
    """Paths of what it is linked with, and of its dynamic linker."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [word for line in said.splitlines() for word in line.split() if word.startswith("/")]


def contained(kinds):
    """A wrapper: runs in a container of these kinds, with copies of the program and its libraries
    at paths that exist nowhere else.
    """

    def wrap(argv, directory):
        root = os.path.join(directory, "root")
        for name in ("app", "proc", "lib64"):
            os.makedirs(os.path.join(root, name))
        os.chmod(directory, 0o755)
        shutil.copy(argv[0], f"{root}/app/program")
        for path in libraries_of(argv[0]):
            shutil.copy(
                path, f"{root}/lib64" if os.path.basename(path).startswith("ld-") else f"{root}/app"
            )
        return [
            "env", "LD_LIBRARY_PATH=/app", build("container", os.path.dirname(argv[0])), kinds,
            root, "/app/program", *argv[1:],
        ]

    return wrap


def renamed(name, *more):
    """A wrapper: a copy of the program under a name that is hard to read, and more of `inside`."""

    def wrap(argv, directory):
        copy = os.path.join(directory, name)
        shutil.copy(argv[0], copy)
        command = [copy, *argv[1:]]
        if not more:
            return command
        library = build("inside", os.path.dirname(argv[0]), "-shared", "-fPIC")
        return ["env", f"LD_PRELOAD={library}", "SURROUNDINGS=" + " ".join(more), *command]

    return wrap


def replaced_libc(argv, directory):
    """A wrapper: its libc is deleted once it is loaded, as after an upgrade."""
    libc = next(
        path for path in libraries_of(argv[0]) if os.path.basename(path).startswith("libc.so")
    )
    copy = shutil.copy(libc, directory)
    library = build("inside", os.path.dirname(argv[0]), "-shared", "-fPIC")
    return [
        "env", f"LD_LIBRARY_PATH={directory}", f"LD_PRELOAD={library}",
        f"SURROUNDINGS=delete={copy}", *argv,
    ]


# ---- limits from outside -------------------------------------------------------------------------


def status_bytes(pid, field):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(f"{field}:"))


def limit_room(limit, field, room):
    """So much more than it has now."""

    def apply(pid):
        value = status_bytes(pid, field) + room
        resource.prlimit(pid, limit, (value, value))

    return apply


def limit_locked(room):
    """For a process of nobody: we may not set limits of another user's process, not even lower."""

    def apply(pid):
        value = status_bytes(pid, "VmLck") + room
        subprocess.run([*NOBODY, "prlimit", "--pid", str(pid), f"--memlock={value}"], check=True)

    return apply


def limit_descriptors(room):
    def apply(pid):
        value = len(os.listdir(f"/proc/{pid}/fd")) + room
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (value, value))

    return apply


def memory_group(argv, _directory):
    group = Group("memory")
    group.set(64 * MEBI, "memory.limit_in_bytes", "memory.max")
    return group.entering(argv)


def throttled_group(argv, _directory):
    """A fifth of one CPU, in slices of 20 ms: most of the time nothing of it runs."""
    group = Group("cpu")
    if group.version == 1:
        group.set(100000, "cpu.cfs_period_us", "")
        group.set(20000, "cpu.cfs_quota_us", "")
    else:
        group.set("20000 100000", "", "cpu.max")
    return group.entering(argv)


# ---- a frozen process: thawed for each look at it ------------------------------------------------


def freeze(server, frozen):
    group = server.about["group"]
    if group.version == 1:
        group.set("FROZEN" if frozen else "THAWED", "freezer.state", "")
        name, wanted = "freezer.state", "FROZEN" if frozen else "THAWED"
    else:
        group.set(int(frozen), "", "cgroup.freeze")
        name, wanted = "cgroup.events", f"frozen {int(frozen)}"
    for _ in range(1000):
        with open(f"{group.path}/{name}", encoding="ascii") as file:
            if wanted in file.read():
                return
        time.sleep(0.01)
    raise Broken(f"the control group does not become {wanted}")


def start_frozen(version):
    def start(directory):
        group = Group("freezer", (version,))
        program = build_settled(directory)
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        server = Server(process.pid, [process], {"group": group, "lines": Lines(process.stdout)})
        try:
            if server.about["lines"].next(ANSWER_SECONDS) != "ready":
                raise Broken("the program does not begin")
            group.add(process.pid)
            freeze(server, True)
        except BaseException:
            thaw(server)
            process.kill()
            process.wait()
            raise
        return server

    return start


def build_settled(directory):
    output = os.path.join(directory, "settled")
    source = os.path.join(os.path.dirname(HERE), "targets", "settled.c")
    subprocess.run(
        [
            os.environ.get("CC", "gcc"), "-D_GNU_SOURCE", "-O1", "-g", "-pthread", "-o", output,
            source,
        ],
        check=True,
    )
    return output


def probe_frozen(server):
    freeze(server, False)
    process = server.processes[0]
    process.stdin.write(b"state\n")
    process.stdin.flush()
    line = server.about["lines"].next(ANSWER_SECONDS) or ""
    freeze(server, True)
    return line.removeprefix("state ")


def thaw(server):
    freeze(server, False)


# ---- allocators ----------------------------------------------------------------------------------


def library(pattern):
    """The library in the system's directories, or None."""
    return next(
        iter(sorted(glob.glob(f"/usr/lib/*/{pattern}") + glob.glob(f"/usr/lib/{pattern}"))), None
    )


def allocator_row(name, pattern, command=STORM):
    path = library(pattern)
    return Target(
        f"allocator-{name}", command, wrapper=["env", f"LD_PRELOAD={path}"],
        events=("cycle", "kill"), weight=0.2,
        available=lambda: "" if path else f"{pattern} is not installed",
    )


# ---- the table -----------------------------------------------------------------------------------


def works(name, command=STORM, loaders=BOTH, **more):
    return Target(
        name, command, loaders=loaders, **{"events": ("cycle", "kill"), "weight": 0.1, **more}
    )


def refused(name, *words, command=STORM, loaders=BOTH, **more):
    # A dlopen that fails has bound some of libc's own slots.
    more.setdefault("varies", ("got",) if loaders == ("dlopen",) else ())
    return Target(
        name, command, loaders=loaders, expect="refused", words=words, events=("refused", "kill"),
        weight=0.2, **more,
    )


def needs_root():
    return "" if os.geteuid() == 0 else "only root can make these surroundings"


def as_root(row):
    """The same row, with the reason why others cannot run it."""
    return replace(row, available=needs_root)


SECCOMP = ("seccomp filter",)
WOULD_DIE = ("seccomp filter would kill it", "without the filter")
NO_WAY_IN = ("its dlopen cannot reach our file", "--loader map")
NO_ROOM = ("no room",)
NONE_TO_LOCK = ("may lock no more", "--memlock")
NO_DESCRIPTOR = ("open", "we need one for a moment")

ROWS = [
    works("seccomp-errno", wrapper=inside("seccomp=errno"), events=("cycle", "kill", "enumerate")),
    works(
        "seccomp-light", wrapper=inside("seccomp-light=kill"), events=("cycle", "kill", "enumerate")
    ),
    refused("seccomp-kill", *WOULD_DIE, wrapper=inside("seccomp=kill")),
    refused("seccomp-trap", *WOULD_DIE, wrapper=inside("seccomp=trap")),
    refused("seccomp-by-thread", *WOULD_DIE, wrapper=inside("seccomp-by-thread=kill")),
    refused("seccomp-supervised", *WOULD_DIE, wrapper=inside("seccomp-supervised")),
    refused("seccomp-strict", "strict seccomp", wrapper=inside("strict-thread")),
    as_root(
        refused(
            "seccomp-no-admin",
            *SECCOMP,
            wrapper=inside("seccomp=kill"),
            attach_wrapper=["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"],
        )
    ),
    as_root(
        refused(
            "seccomp-nobody", *SECCOMP, wrapper=inside("seccomp=kill", before=NOBODY),
            attach_wrapper=NOBODY,
        )
    ),
    as_root(works("chroot", wrapper=inside("chroot={directory}"), loaders=("map",))),
    as_root(
        refused(
            "chroot-dlopen", *NO_WAY_IN, wrapper=inside("chroot={directory}"), loaders=("dlopen",)
        )
    ),
    as_root(works("user-namespace", wrapper=inside("userns"))),
    as_root(works("mount-namespace", wrapper=contained("mount"), loaders=("map",))),
    as_root(
        refused(
            "mount-namespace-dlopen", *NO_WAY_IN, wrapper=contained("mount"), loaders=("dlopen",)
        )
    ),
    as_root(works("mount-namespace-proc", wrapper=contained("mount,proc"))),
    as_root(works("pid-namespace", wrapper=contained("pid,proc"))),
    as_root(works("container", wrapper=contained("pid,user,proc"))),
    as_root(works("memfd-noexec-1", wrapper=contained("pid,proc,noexec=1"))),
    as_root(works("memfd-noexec-2", wrapper=contained("pid,proc,noexec=2"))),
    as_root(works("owner-nobody", wrapper=NOBODY)),
    as_root(works("owner-and-injector-nobody", wrapper=NOBODY, attach_wrapper=NOBODY)),
    refused(
        "address-space-full", *NO_ROOM, command=SETTLED,
        once_ready=limit_room(resource.RLIMIT_AS, "VmSize", 65536),
    ),
    works(
        "address-space-room",
        command=SETTLED,
        once_ready=limit_room(resource.RLIMIT_AS, "VmSize", 128 * MEBI),
    ),
    refused("mappings-full", *NO_ROOM, command=["settled", "maps"]),
    refused("descriptors-full", *NO_DESCRIPTOR, command=SETTLED, once_ready=limit_descriptors(0)),
    works("descriptors-one", command=SETTLED, once_ready=limit_descriptors(1), loaders=("map",)),
    refused(
        "descriptors-one-dlopen", *NO_WAY_IN, command=SETTLED, once_ready=limit_descriptors(1),
        loaders=("dlopen",),
    ),
    works(
        "memory-locked", command=["malloc_storm", "8", "realloc"], wrapper=inside("mlockall=all"),
        events=("cycle", "kill", "enumerate"),
    ),
    as_root(
        works(
            "memory-locked-room", command=SETTLED, wrapper=inside("mlockall=future", before=NOBODY),
            once_ready=limit_locked(MEBI // 4), events=("cycle", "kill", "enumerate"),
        )
    ),
    as_root(
        refused(
            "memory-locked-full", *NONE_TO_LOCK, command=SETTLED,
            wrapper=inside("mlockall=future", before=NOBODY), once_ready=limit_locked(65536),
        )
    ),
    works("stack-small", wrapper=["prlimit", "--stack=32768"]),
    works("exec-gain-refused", wrapper=inside("mdwe")),
    as_root(works("memory-group", wrapper=memory_group)),
    as_root(
        works(
            "throttled-group", wrapper=throttled_group, command=["malloc_storm", "2"], weight=0.02
        )
    ),
    *(
        as_root(
            Target(
                f"frozen-group-v{version}", start=start_frozen(version), probe=probe_frozen,
                stop=thaw, expect="refused", words=["frozen", "thaw"], events=("refused",),
                varies=("state",), weight=0.2,
            )
        )
        for version in (1, 2)
    ),
    works("program-deleted", wrapper=renamed("gone", "delete-program")),
    works("program-odd-name", wrapper=renamed("a) R (b\n (deleted)")),
    works("comm-odd", wrapper=inside("comm=a),R,b")),
    works("libc-deleted", wrapper=replaced_libc),
    allocator_row("jemalloc", "libjemalloc.so.2"),
    allocator_row("tcmalloc", "libtcmalloc.so.4"),
    allocator_row("tcmalloc-minimal", "libtcmalloc_minimal.so.4"),
    # mimalloc 2.0.9 returns aligned blocks that are not aligned.
    allocator_row("mimalloc", "libmimalloc.so.2*", ["malloc_storm", "8", "plain"]),
    works("musl", compiler="musl-gcc", needs=["musl-gcc"], loaders=("map",), weight=0.2),
    refused(
        "musl-dlopen", "glibc only", "--loader map", compiler="musl-gcc", needs=["musl-gcc"],
        loaders=("dlopen",),
    ),
    works("static", cflags=["-static"], loaders=("map",), compares_all=True),
    works("static-pie", cflags=["-static-pie"], loaders=("map",), compares_all=True),
    refused(
        "static-stripped", "which is linked statically", "not stripped", cflags=["-static", "-s"],
        varies=("code",),
    ),
    # a program that handles no signal: nothing in it returns from a handler
    works(
        "musl-static", cflags=["-static"], compiler="musl-gcc", needs=["musl-gcc"],
        loaders=("map",), compares_all=True,
    ),
]
