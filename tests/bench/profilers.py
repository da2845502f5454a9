# SPDX-License-Identifier: MIT
"""The configurations under which every target runs, by name.

A configuration is what is put into the target's environment and what is attached to it. It is
compared with another configuration, its base, which has the same allocator and no profiler. A
profiler that attaches is also compared with the windows before and after it in the same process.
That comparison is the better one, because two processes never have the same memory layout.
"""
import os
import re
import shutil
import signal
import subprocess
import time

from processes import Failed, children, cpu_ns, end, launch, line_from, peak_bytes

HEAPINJECT = os.environ.get("HEAPINJECT", "heapinject")
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
JEMALLOC = f"{LIBRARIES}/libjemalloc.so.2"
TCMALLOC = f"{LIBRARIES}/libtcmalloc.so.4"
HEAPTRACK = "/usr/lib/heaptrack/libheaptrack_preload.so"
ATTACH_LIMIT_S = 60


class Facts:
    """What a profiler says about itself after it has left."""

    def __init__(self):
        self.detach_s = 0
        self.counts = {}  # heapinject's own counts, as in the head of its .heap file
        self.stacks = 0
        self.resident = (0, 0)  # most that injector and analyzer had


class Heapinject:
    """heapinject, attached."""

    def __init__(self, pid, work, sample, hook="auto", more=()):
        self.pid, self.prefix = pid, os.path.join(work, "profile")
        self.log = open(f"{self.prefix}.log", "wb")
        began = time.monotonic()
        command = [
            HEAPINJECT, "attach", str(pid), "-v", "--duration", "1h", "--sample", str(sample),
            "--hook", hook, "-o", self.prefix, *more,
        ]
        self.process = launch(
            command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.PIPE
        )
        try:
            line = line_from(self.process.stderr, ATTACH_LIMIT_S, "heapinject attach")
            self.attach_s = time.monotonic() - began
            if "attached to" not in line:
                raise Failed(line)
        except Failed:
            self.close()
            raise

    def close(self):
        status = end(self.process, signal.SIGINT, 60)
        self.log.close()
        return status

    def resident(self):
        return peak_bytes(self.process.pid), sum(
            peak_bytes(child) for child in children(self.process.pid)
        )

    def cpu(self):
        """CPU time of injector and analyzer until now, in ns."""
        return cpu_ns(self.process.pid), sum(
            cpu_ns(child) for child in children(self.process.pid)
        )

    def dump(self):
        """Its counts until now."""
        done = subprocess.run(
            [HEAPINJECT, "dump", str(self.pid)], capture_output=True, text=True,
            timeout=ATTACH_LIMIT_S, check=False,
        )
        facts = Facts()
        self._read_profiles(facts)
        if done.returncode or not facts.counts:
            raise Failed(f"heapinject dump: {done.stderr.strip()[:200]}")
        return facts.counts

    def detach(self):
        facts, began = Facts(), time.monotonic()
        facts.resident = self.resident()
        self.process.send_signal(signal.SIGINT)
        self.process.stderr.read()
        status = self.close()
        facts.detach_s = time.monotonic() - began
        if status:
            with open(self.log.name, encoding="utf-8", errors="replace") as log:
                raise Failed(f"heapinject ended with {status}: {log.read()[:300]}")
        self._read_profiles(facts)
        return facts

    def _read_profiles(self, facts):
        directory, name = os.path.split(self.prefix)
        for file in os.listdir(directory):
            if not file.startswith(f"{name}."):
                continue
            path = os.path.join(directory, file)
            if file.endswith(".heap"):
                with open(path, encoding="utf-8", errors="replace") as text:
                    for line in text:
                        count = re.fullmatch(r"# (\w+) (\d+)\n", line)
                        if count:
                            facts.counts[count[1]] = int(count[2])
            if file.endswith((".heap", ".pb.gz")):
                os.unlink(path)


class Heaptrack:
    """heaptrack --pid, raw. It detaches in a trap that the shell does not run after a signal, so
    this does here what the trap does.
    """

    def __init__(self, pid, work):
        self.pid = pid
        began = time.monotonic()
        self.process = launch(
            ["heaptrack", "--raw", "-o", os.path.join(work, "heaptrack"), "--pid", str(pid)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            self._wait_until_attached()
        except Failed:
            self.close()
            raise
        self.attach_s = time.monotonic() - began

    def _wait_until_attached(self):
        line, trouble = "", ""
        while "injection finished" not in line:
            line = line_from(self.process.stdout, ATTACH_LIMIT_S, "heaptrack --pid")
            # gdb ends well whatever happened; these are its words for a call that was not made.
            if re.search("Couldn't|No symbol|Cannot|failed", line):
                trouble = trouble or line
        if trouble:
            raise Failed(f"gdb: {trouble}")

    def detach(self):
        facts, began = Facts(), time.monotonic()
        subprocess.run(
            [
                "gdb", "--batch-silent", "-n", "-iex=set auto-solib-add off", "-p", str(self.pid),
                "--eval-command=sharedlibrary libheaptrack_inject",
                "--eval-command=call (void) heaptrack_stop()", "--eval-command=detach",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=ATTACH_LIMIT_S,
            check=False,
        )
        facts.detach_s = time.monotonic() - began
        self.close()
        return facts

    def close(self):
        """SIGKILL for the script and what it started: a signal that lets its trap run would attach
        again.
        """
        end(self.process, signal.SIGKILL)
        fifo = f"/tmp/heaptrack_fifo{self.process.pid}"
        if os.path.exists(fifo):
            os.unlink(fifo)


class Uprobe:
    """One counter at the entry of malloc: the least that any eBPF profiler does. A probe is in the
    file, for every process that runs it, so the target runs a copy of its own.
    """

    def __init__(self, pid, _work):
        library = allocator_of(pid)
        began = time.monotonic()
        self.process = launch(
            [
                "bpftrace",
                "-p",
                str(pid),
                "-e",
                f'uprobe:{library}:malloc {{ @ = count(); }} '
                'interval:ms:200 { printf("on\\n"); }',
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            while line_from(self.process.stdout, ATTACH_LIMIT_S, "bpftrace") != "on":
                pass
        except Failed:
            self.close()
            raise
        self.attach_s = time.monotonic() - began

    def close(self):
        end(self.process, signal.SIGINT)

    def detach(self):
        facts, began = Facts(), time.monotonic()
        self.close()
        facts.detach_s = time.monotonic() - began
        return facts


def allocator_of(pid):
    """The private copy of the library from which a process has its malloc (see
    Profiler.environment).
    """
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        paths = [line.split(None, 5)[5].strip() for line in maps if "/own/" in line]
    for name in ("libjemalloc", "libc.so"):
        for path in paths:
            if os.path.basename(path).startswith(name):
                return path
    raise Failed("the target has no allocator of its own to probe")


class Profiler:
    """A configuration.

    attach(pid, work) returns a session with attach_s and detach(). rate is the mean number of bytes
    between samples, 0 for none. is_slow means fewer rounds and fewer requests. turns says how often
    the profiler attaches and detaches in one process of an unsteady workload, and for what share of
    a window each time. beside is the name of another configuration that takes turns with this one,
    in the same process of any workload, so that they can be compared.
    """

    def __init__(self, name, base, what, **options):
        self.name, self.base, self.what = name, base, what
        self.attach = options.get("attach")
        self.variables = options.get("variables", {})
        self.rate = options.get("rate", 0)
        self.is_slow = options.get("is_slow", False)
        self.turns = options.get("turns", (1, 1))
        self.beside = options.get("beside", "")
        self.needs = options.get("needs", ())
        self.is_for = options.get("is_for", ("micro", "redis", "memcached", "nginx"))
        self.own_library = options.get("own_library", False)
        self.fifo = options.get("fifo", False)

    def missing(self):
        """Why it cannot be had here, or an empty string."""
        for need in self.needs:
            if not (os.path.exists(need) if "/" in need else shutil.which(need)):
                return f"{need} is not installed"
        if self.own_library and os.geteuid():
            return "uprobes need root"
        return ""

    def environment(self, work):
        """Variables of the target, and a helper process or None."""
        variables, helper = dict(self.variables), None
        if self.own_library:
            directory = os.path.join(work, "own")
            os.makedirs(directory, exist_ok=True)
            for library in (f"{LIBRARIES}/libc.so.6", JEMALLOC):
                if os.path.exists(library):
                    shutil.copy(
                        os.path.realpath(library),
                        os.path.join(directory, os.path.basename(library)),
                    )
            variables["LD_LIBRARY_PATH"] = directory
        if self.fifo:
            fifo = os.path.join(work, "fifo")
            if not os.path.exists(fifo):
                os.mkfifo(fifo)
            compressor = "zstd" if shutil.which("zstd") else "gzip"
            helper = launch(
                ["sh", "-c", f"exec {compressor} -c <'{fifo}' >/dev/null"], stdin=subprocess.DEVNULL
            )
            variables["DUMP_HEAPTRACK_OUTPUT"] = fifo
        return variables, helper


def heapinject(name, sample, rate, what, hook="auto", **options):
    more = options.pop("more", ())
    return Profiler(
        name, "none", what, attach=lambda pid, work: Heapinject(pid, work, sample, hook, more),
        rate=rate, **options,
    )


def jemalloc(name, conf, what, **options):
    return Profiler(
        name, "je_off" if conf else "none", what,
        variables={"LD_PRELOAD": JEMALLOC, "MALLOC_CONF": conf}, needs=(JEMALLOC,), **options,
    )


def tcmalloc(name, rate, what, **options):
    return Profiler(
        name, "tc_off" if rate else "none", what,
        variables={"LD_PRELOAD": TCMALLOC, "TCMALLOC_SAMPLE_PARAMETER": str(rate)},
        needs=(TCMALLOC,), rate=rate, **options,
    )


PEERS = ("micro", "redis")
ALL = ("micro", "maps", "pools", "redis", "memcached", "nginx")
LIGHT = (24, 0.2)  # hard to tell from noise, which many short turns even out
IN_TURN = (5, 0.5)
POOLS = ["--alloc-fn", "pool_get:2@1", "--free-fn", "pool_reset:@1"]  # of workload.c
PROFILERS = [
    Profiler("none", "none", "no profiler, the allocator as it is", turns=LIGHT, is_for=ALL),
    Profiler(
        "none_again", "none", "the same once more: the difference is noise", turns=LIGHT, is_for=ALL
    ),
    heapinject("hi_auto", "auto", 0, "heapinject attach, the default", is_for=("budget",)),
    heapinject("hi_512K", "512K", 512 << 10, "heapinject attach --sample 512K", turns=LIGHT),
    heapinject(
        "hi_slot", "512K", 512 << 10, "heapinject attach --hook slot", hook="slot", turns=IN_TURN,
        beside="hi_entry", is_for=PEERS,
    ),
    heapinject(
        "hi_entry", "512K", 512 << 10, "heapinject attach --hook entry", hook="entry", is_for=PEERS
    ),
    heapinject("hi_64K", "64K", 64 << 10, "heapinject attach --sample 64K", turns=LIGHT),
    heapinject("hi_exact", 1, 1, "heapinject attach --sample 1", turns=(5, 1)),
    heapinject(
        "hi_mmap", "512K", 512 << 10, "heapinject attach --mmap --sample 512K", more=["--mmap"],
        is_for=("maps",),
    ),
    heapinject(
        "hi_mmap_exact", 1, 1, "heapinject attach --mmap --sample 1", more=["--mmap"],
        is_for=("maps",),
    ),
    heapinject(
        "hi_named", "512K", 512 << 10, "heapinject attach --alloc-fn, --sample 512K", more=POOLS,
        is_for=("pools",),
    ),
    heapinject(
        "hi_named_exact", 1, 1, "heapinject attach --alloc-fn, --sample 1", more=POOLS,
        is_for=("pools",),
    ),
    jemalloc("je_off", "", "jemalloc preloaded, profiling off", is_for=PEERS),
    jemalloc(
        "je_512K", "prof:true,lg_prof_sample:19", "jemalloc, prof, lg_prof_sample 19",
        rate=512 << 10, is_for=PEERS,
    ),
    jemalloc(
        "je_64K", "prof:true,lg_prof_sample:16", "jemalloc, prof, lg_prof_sample 16", rate=64 << 10,
        is_for=PEERS,
    ),
    jemalloc(
        "je_all", "prof:true,lg_prof_sample:0", "jemalloc, prof, lg_prof_sample 0", rate=1,
        is_slow=True, is_for=PEERS,
    ),
    tcmalloc("tc_off", 0, "tcmalloc preloaded, sampling off", is_for=PEERS),
    tcmalloc("tc_512K", 512 << 10, "tcmalloc, TCMALLOC_SAMPLE_PARAMETER=524288", is_for=PEERS),
    tcmalloc("tc_64K", 64 << 10, "tcmalloc, TCMALLOC_SAMPLE_PARAMETER=65536", is_for=PEERS),
    Profiler(
        "heaptrack", "none", "heaptrack --raw, launched", variables={"LD_PRELOAD": HEAPTRACK},
        fifo=True, rate=1, is_slow=True, needs=(HEAPTRACK,), is_for=PEERS,
    ),
    Profiler(
        "heaptrack_pid", "none", "heaptrack --raw --pid", attach=Heaptrack, rate=1, is_slow=True,
        needs=("heaptrack", "gdb"), is_for=PEERS,
    ),
    Profiler(
        "uprobe", "none", "eBPF uprobe that counts calls of malloc (bpftrace)", attach=Uprobe,
        is_slow=True, needs=("bpftrace",), own_library=True, is_for=PEERS,
    ),
]
BY_NAME = {profiler.name: profiler for profiler in PROFILERS}
