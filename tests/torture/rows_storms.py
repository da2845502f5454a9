# SPDX-License-Identifier: MIT
"""Rows of the self-checking programs in targets/.

They are storms of calls, signals, processes and threads, and threads that hold state which an
attach could damage.
"""
from table import Target

EVERYTHING = ("maps", "descriptors", "threads", "signals", "masks", "state", "got", "code")
# These rows test which slots there are, and who has copied them.
BY_BOTH = {"hooks": ("auto", "slot")}
BY_SLOT = {"hooks": ("slot",)}
# An allocator of the program's own, which its libraries do not see: they use libc's. So there are
# two, too far apart for one place of the gate.
TWO_ALLOCATORS = ["-DLINKED_ALLOCATOR", "-Wl,--exclude-libs,ALL"]
OWN_STATE = {"events": ("cycle", "kill"), "weight": 0.2}

ROWS = [
    Target("malloc-1", ["malloc_storm", "1"], is_storm=True),
    Target("malloc-8", ["malloc_storm", "8"], is_storm=True),
    Target("malloc-64", ["malloc_storm", "64"], is_storm=True, patience=4),
    Target("aligned-1", ["malloc_storm", "1", "aligned"], is_storm=True),
    Target("aligned-8", ["malloc_storm", "8", "aligned"], is_storm=True),
    Target("realloc-1", ["malloc_storm", "1", "realloc"], is_storm=True),
    Target("realloc-8", ["malloc_storm", "8", "realloc"], is_storm=True),
    Target(
        "linked-1", ["malloc_storm", "1", "plain"], is_storm=True, compares_all=True,
        cflags=[*TWO_ALLOCATORS, "-l:libjemalloc_pic.a"],
    ),
    Target(
        "linked-8", ["malloc_storm", "8", "plain"], is_storm=True, compares_all=True,
        cflags=[*TWO_ALLOCATORS, "-l:libjemalloc_pic.a"],
    ),
    Target(
        "dlopen-1", ["dlopen_storm", "{build}/libplugin.so", "{directory}", "1"], is_storm=True,
        varies=("maps", "got", "descriptors"), **BY_BOTH,
    ),
    Target(
        "dlopen-4", ["dlopen_storm", "{build}/libplugin.so", "{directory}", "4"], is_storm=True,
        varies=("maps", "got", "descriptors"), **BY_BOTH,
    ),
    # Libraries that bind to an allocator of their own when they need it. As they come and go, so
    # does the code that belongs to the program's allocator.
    Target(
        "deepbind", ["deepbind", "{build}/librelease.so", "{directory}"], is_storm=True,
        varies=("maps", "got", "descriptors", "code"), **BY_BOTH,
    ),
    # Each sample returns through a probe, in a page that goes with the rest.
    Target("probes-8", ["malloc_storm", "8"], is_storm=True, attach=["--otel", "-c", "256"]),
    # Threads that are long in the kernel within a hook, and stacks that come and go.
    Target(
        "mmap-storm", ["mapping_storm", "4"], is_storm=True, varies=("maps", "threads", "signals"),
        attach=["--mmap", "-c", "16K"], hooks=("auto",),
    ),
    Target("churn", ["thread_churn"], is_storm=True, varies=("threads", "signals")),
    Target("fork", ["processes", "fork"], is_storm=True, varies=("signals",)),
    Target("vfork", ["processes", "vfork"], is_storm=True, varies=("signals",)),
    # A thread that cannot be stopped.
    Target(
        "vfork-slow", ["slow_vfork", "{build}/libplugin.so", "{directory}"], is_storm=True,
        varies=("maps", "got", "descriptors", "signals"), **BY_BOTH,
    ),
    Target(
        "vfork-slow-linked", ["slow_vfork", "{build}/libplugin.so", "{directory}"], is_storm=True,
        cflags=[*TWO_ALLOCATORS, "-l:libjemalloc_pic.a"],
        varies=("maps", "got", "descriptors", "signals"),
    ),
    Target("spawn", ["processes", "spawn"], is_storm=True, varies=("signals",)),
    Target("exec", ["processes", "exec"], is_storm=True, varies=("signals",)),
    # Processes of their own in the target's memory.
    Target("sharers", ["sharers", "lasting"], is_storm=True),
    Target("sharers-passing", ["sharers", "passing"], is_storm=True, varies=("maps", "signals")),
    Target("signals", ["signals", "count"], is_storm=True, varies=("signals",)),
    Target("signals-jump", ["signals", "jump"], is_storm=True, varies=("signals",)),
    # Every blocking call that a stop could turn into EINTR or a short count.
    Target("blocking", ["blocking"], is_storm=True, varies=("signals", "descriptors")),
    # State that must come through.
    Target("registers", ["registers"], is_storm=True),
    Target("rseq", ["rseq_counter"], is_storm=True),
    Target("coroutines", ["coroutines"], is_storm=True, varies=("signals",)),
    Target("switches-kept", ["switches", "kept"], is_storm=True, varies=("signals",), weight=0.3),
    # Sampled as densely as can be: each stack read is one that may be gone the next moment.
    Target(
        "switches-reused", ["switches", "reused"], is_storm=True, varies=("signals", "maps"),
        attach=["-c", "64"], weight=0.3,
    ),
    Target("exceptions", ["exceptions"], is_storm=True),
    Target("pointers-gcc", ["pointers"], cflags=["-O2"], compiler="gcc", is_storm=True, **BY_BOTH),
    Target(
        "pointers-clang", ["pointers"], cflags=["-O2", "-fno-plt"], compiler="clang", is_storm=True,
        needs=["clang"], **BY_BOTH,
    ),
    # Programs in, or on the way to, a state of their own.
    Target("trap-ignored", ["situations", "trap-ignored"], **OWN_STATE),
    Target("trap-blocked", ["situations", "trap-blocked"], **OWN_STATE),
    # This closes our descriptor, too, and opens files in its place. So heapinject may refuse to
    # attach, and a close of ours may meet one of its files.
    Target(
        "close-all", ["situations", "close-all"], varies=("descriptors",), in_slice=False,
        **OWN_STATE,
    ),
    Target("dumpable", ["situations", "dumpable"], **OWN_STATE),
    Target("identity", ["situations", "identity"], varies=("signals",), **OWN_STATE),
    Target("leaderless", ["situations", "leaderless"], **OWN_STATE),
    Target("unshare", ["situations", "unshare"], varies=("descriptors",), **OWN_STATE),
    Target("stopped", ["stopped"], **OWN_STATE),
    Target("stopped-toggled", ["stopped", "toggled"], varies=("state", "signals"), **OWN_STATE),
    # Threads that leave calls in the middle. heapinject never sees a hook return that was left. So
    # detach keeps what the hook would return to, and says so.
    Target("cancel", ["leaving", "cancel"], is_storm=True, varies=("threads", "signals")),
    Target(
        "cancel-async", ["leaving", "async"], environment={"LD_PRELOAD": "{build}/libbump.so"},
        varies=("threads", "signals"), **OWN_STATE,
    ),
    # Threads run from where a siglongjmp led all the time. No safe point of theirs can be proved,
    # so dlclose may have to give up.
    Target(
        "jump-async", ["leaving", "jump"], environment={"LD_PRELOAD": "{build}/libbump.so"},
        varies=("signals",), loaders=("map",), **OWN_STATE,
    ),
    # Programs that come to their end, or become another one, when they like.
    Target("ends-exit", ["ends", "exit"], expect="ends", statuses=[7]),
    Target("ends-abort", ["ends", "abort"], expect="ends", statuses=[-6]),
    Target("ends-crash", ["ends", "crash"], expect="ends", statuses=[-11]),
    Target("ends-exec", ["ends", "exec"], expect="ends", varies=EVERYTHING),
    Target("ends-thread-exec", ["ends", "thread-exec"], expect="ends", varies=EVERYTHING),
    # Copies of our pointers that heapinject never restores. Threads keep calling through them while
    # the gate goes and plain jumps take its place. Hooks at the entry of a function have no such
    # copies, so these rows hook by slot.
    Target(
        "copies", ["copies", "{directory}/copies"], is_storm=True, copies="copies",
        events=("cycle", "kill", "enumerate"), **BY_SLOT,
    ),
    Target(
        "copies-marked", ["copies", "{directory}/copies", "marked"], is_storm=True, copies="copies",
        events=("cycle", "kill", "enumerate"), **BY_SLOT,
    ),
]
