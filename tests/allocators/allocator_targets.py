# SPDX-License-Identifier: MIT
"""Servers with an allocator linked into them: redis of Debian's source package, and store/.

Each knows what it holds, which function of its own allocated it, and since which mark; and has its
allocator's own profile. A target is started, loaded and asked here. All are built once, below
build/allocators, with a stripped copy of each.
"""
import collections
import glob
import os
import random
import shutil
import subprocess
import threading
import time

from processes import Failed, end, has_ended, launch, line_from, read
from server_targets import Skipped, connect, free_port, need

HERE = os.path.dirname(os.path.abspath(__file__))
STORE = os.path.join(HERE, "store")
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
BUILD_SECONDS = 3600
START_SECONDS = 60
ANSWER_SECONDS = 60
JEMALLOC, GPERFTOOLS = "jemalloc", "gperftools"


def run(command, what, **options):
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", check=False, timeout=BUILD_SECONDS, **options,
    )
    if done.returncode:
        raise Failed(f"{what}: {done.stdout.strip()[-600:]}")
    return done.stdout


def is_up_to_date(target, sources):
    return os.path.exists(target) and all(
        os.path.getmtime(source) <= os.path.getmtime(target) for source in sources
    )


def own_functions(objects):
    """Functions that object files define, without those that templates of libraries leave there."""
    text = run(["nm", "--defined-only", *objects], "nm")
    fields = [line.split() for line in text.splitlines()]
    return {found[2] for found in fields if len(found) == 3 and found[1] in "Tt"}


class Target:
    """name; allocator: whose own profile there is; program: the file that runs; symbols: the same
    program, not stripped; own: its functions; holders: those of which the truth is known.
    """

    name = about = allocator = holders = None
    quantum = 16  # of jemalloc
    is_stripped = False

    def __init__(self, work, build):
        self.work, self.builds, self.pid = work, build, None
        self.processes = []

    def build(self):
        """Raises Skipped if it cannot be had here. Sets program, symbols and own."""
        raise NotImplementedError

    def install(self, built):
        """The program has its own place, so that its symbols can take that place afterwards."""
        self.symbols = built
        self.program = os.path.join(os.path.realpath(self.work), self.name)
        if self.is_stripped:
            run(["strip", "-o", self.program, built], "strip")
        else:
            shutil.copy(built, self.program)

    def put_symbols_in_place(self):
        """After the end: the program of the same build-id, with names."""
        os.unlink(self.program)
        shutil.copy(self.symbols, self.program)

    def launch(self, command, **options):
        with open(os.path.join(self.work, "log"), "ab") as log:
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **options}
            self.processes.append(launch(command, **options))
        return self.processes[-1]

    def close(self):
        for process in reversed(self.processes):
            end(process)
        self.processes = []

    def state(self):
        """(requests served, wrong replies); Failed if the server has ended."""
        raise NotImplementedError

    def check(self):
        """Number of requests served, or Failed if something was wrong."""
        if has_ended(self.processes[0]):
            raise Failed(f"the server ended: {read(os.path.join(self.work, 'log'))[-300:]}")
        served, wrong = self.state()
        if wrong:
            raise Failed(f"{wrong} client errors or wrong replies")
        return served


# ---- store ---------------------------------------------------------------------------------------


class Store(Target):
    holders = ["copy_text", "new_entry", "new_session", "grow_log", "new_page", "keep_name"]
    libraries, flags, own_define = [], [], "OWN_TCMALLOC"

    def object(self, name, source, *options):
        """Builds an object file, if it is older than what it is made of."""
        made = os.path.join(self.builds, name)
        if not is_up_to_date(made, [source, *glob.glob(f"{STORE}/*.h"), f"{STORE}/store.proto"]):
            run(
                ["g++", "-std=c++17", "-O2", "-g", "-Wall", "-Wextra", f"-I{self.builds}",
                 f"-I{STORE}", *options, "-c", "-o", made, source], name,
            )
        return made

    def messages(self):
        made = os.path.join(self.builds, "store.pb.cc")
        if not is_up_to_date(made, [f"{STORE}/store.proto"]):
            run(["protoc", f"--cpp_out={self.builds}", f"--proto_path={STORE}",
                 f"{STORE}/store.proto"], "protoc")
        return self.object("store.pb.o", made)

    def link(self, name, *what):
        made = os.path.join(self.builds, name)
        if not is_up_to_date(made, [part for part in what if part.endswith(".o")]):
            run(["g++", "-o", made, *what, "-lpthread", "-ldl"], name)
        return made

    def build(self):
        need("protobuf-compiler", "protoc")
        need("libprotobuf-dev", "/usr/include/google/protobuf/message.h")
        need("libgflags-dev", "/usr/include/gflags/gflags.h")
        for library in self.libraries:
            if library.endswith(".a"):
                need("scripts/packages, group allocators", library)
        messages = self.messages()
        own = [
            self.object("server.o", f"{STORE}/server.cc"),
            self.object("keep.o", f"{STORE}/keep.cc"),
            self.object(f"{self.own_define}.o", f"{STORE}/own_profile.cc", f"-D{self.own_define}"),
        ]
        load = self.object("load.o", f"{STORE}/load.cc")
        self.loader = self.link("load", load, messages, "-lprotobuf", "-lgflags")
        name = self.name.removesuffix("-stripped")
        self.install(self.link(name, *self.flags, *own, messages, *self.libraries))
        self.own = own_functions(own)

    def start(self):
        server = self.launch(
            [self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            env={**os.environ, "HEAP_PROFILE_ALLOCATION_INTERVAL": "0",
                 "HEAP_PROFILE_INUSE_INTERVAL": "0"},
        )
        port = line_from(server.stdout, START_SECONDS, self.name)
        self.load = self.launch(
            [self.loader, f"--port={port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.pid = server.pid

    def ask(self, line):
        self.load.stdin.write(line.encode() + b"\n")
        return line_from(self.load.stdout, ANSWER_SECONDS, "the load")

    def order(self, line):
        said = self.ask(line)
        if said != "ok":
            raise Failed(f"{line}: {said}")

    def state(self):
        return map(int, self.ask("state").split())

    def pause(self):
        self.order("pause")

    def resume(self):
        self.order("resume")

    def mark(self):
        return int(self.ask("mark"))

    def held(self, mark):
        """function -> (bytes, objects)"""
        words = self.ask(f"held {mark}").split()
        return {
            name: (int(size), int(objects))
            for name, size, objects in zip(words[::3], words[1::3], words[2::3])
        }

    def begin_own_profile(self):
        self.order("profile")

    def end_own_profile(self, path):
        self.order(f"dump {path}")


class StoreTcmalloc(Store):
    name, about = "store-tcmalloc", "C++ with libtcmalloc_and_profiler.a, the rest dynamic"
    allocator = GPERFTOOLS
    libraries = [
        f"{LIBRARIES}/libtcmalloc_and_profiler.a", "-lprotobuf", "-lgflags", "-lunwind",
    ]


class StoreJemalloc(Store):
    name, about = "store-jemalloc", "C++ with libjemalloc_pic.a, the rest dynamic"
    allocator, own_define = JEMALLOC, "OWN_JEMALLOC"
    libraries = [f"{LIBRARIES}/libjemalloc_pic.a", "-lprotobuf", "-lgflags"]


class StoreStatic(Store):
    """Of libunwind, gperftools needs what walks the own stack. Debian's archive also has what would
    take the place of libgcc's part in exceptions, and is not position independent.
    """

    name, about = "store-static", "C++ with tcmalloc, and all but glibc linked in"
    allocator = GPERFTOOLS
    flags = ["-no-pie", "-static-libstdc++", "-static-libgcc"]

    def build(self):
        unwind = os.path.join(self.builds, "libunwind.a")
        need("libunwind-dev", f"{LIBRARIES}/libunwind.a")
        need("liblzma-dev", f"{LIBRARIES}/liblzma.a")
        if not os.path.exists(unwind):
            shutil.copy(f"{LIBRARIES}/libunwind.a", unwind + ".part")
            text = run(["nm", "-A", "--defined-only", unwind + ".part"], "nm")
            run(["ar", "d", unwind + ".part",
                 *{line.split(":")[1] for line in text.splitlines() if " T _Unwind_" in line}],
                "ar")
            os.rename(unwind + ".part", unwind)
        self.libraries = [
            f"{LIBRARIES}/libtcmalloc_and_profiler.a", f"{LIBRARIES}/libprotobuf.a",
            f"{LIBRARIES}/libgflags.a", unwind, f"{LIBRARIES}/liblzma.a",
        ]
        super().build()


class StoreStaticJemalloc(Store):
    """The operators of C++ are jemalloc's own, and nothing outside of the program knows them."""

    name, about = "store-static-jemalloc", "C++ with jemalloc, and all but glibc linked in"
    allocator, own_define = JEMALLOC, "OWN_JEMALLOC"
    flags = ["-static-libstdc++", "-static-libgcc"]
    libraries = [
        f"{LIBRARIES}/libjemalloc_pic.a", f"{LIBRARIES}/libprotobuf.a", f"{LIBRARIES}/libgflags.a",
    ]


# ---- redis ---------------------------------------------------------------------------------------


def fetch_redis(directory):
    """Debian's source package, by lists of our own: the machine's are left alone."""
    if glob.glob(f"{directory}/*.dsc"):
        return
    need("dpkg-dev", "dpkg-source")
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    release = next(
        (line.partition("=")[2] for line in read("/etc/os-release").splitlines()
         if line.startswith("VERSION_CODENAME=")), "bookworm",
    )
    os.makedirs(f"{directory}/lists/partial", exist_ok=True)
    with open(f"{directory}/sources.list", "w", encoding="utf-8") as file:
        for place in (f"debian {release}", f"debian-security {release}-security"):
            file.write(f"deb-src [signed-by={keys}] http://deb.debian.org/{place} main\n")
    options = [
        f"-oDir::Etc::SourceList={os.path.abspath(directory)}/sources.list",
        "-oDir::Etc::SourceParts=-", f"-oDir::State::Lists={os.path.abspath(directory)}/lists",
        "-oDir::Cache::pkgcache=", "-oDir::Cache::srcpkgcache=", "-oAPT::Sandbox::User=root",
    ]
    try:
        run(["apt-get", *options, "-q", "update"], "apt-get update")
        run(["apt-get", *options, "-q", "source", "--download-only", "redis"], "apt-get source",
            cwd=directory)
    except Failed as error:
        raise Skipped(f"no sources of redis: {error}") from error


class RedisKeeper(Target):
    """Strings of many sizes. Each is a little below a size of jemalloc, so that redis does not trim
    it. Keys are new, or have their value replaced, or are deleted; a list becomes longer.
    """

    holders = ["_sdsnewlen"]
    allocator = JEMALLOC
    CLASSES = (320, 640, 1280, 1280)
    VALUE_HEAD, KEY_HEAD = 6, 4  # of an sds, with its final zero
    KEY_LENGTH, ELEMENT_LENGTH = 240, 300
    BATCH, PERIOD = 20, 0.02
    patches, make_options = True, []

    def build(self):
        need("libjemalloc-dev", f"{LIBRARIES}/libjemalloc_pic.a")
        sources = os.path.join(self.builds, "redis")
        os.makedirs(sources, exist_ok=True)
        fetch_redis(sources)
        tree = os.path.join(sources, self.name.removesuffix("-stripped"))
        if not os.path.exists(f"{tree}/src/redis-server"):
            shutil.rmtree(tree, ignore_errors=True)
            run(["dpkg-source", "--no-check", *([] if self.patches else ["--skip-patches"]), "-x",
                 *glob.glob(f"{sources}/*.dsc"), tree], "dpkg-source")
            self.compile(tree)
        self.install(f"{tree}/src/redis-server")
        self.own = own_functions(
            path for path in glob.glob(f"{tree}/src/*.o") if not path.endswith("/zmalloc.o")
        )

    def compile(self, tree, *options):
        run(["make", "-C", f"{tree}/src", "MALLOC=jemalloc", "USE_SYSTEMD=no", *options,
             "redis-server"], "make of redis")

    def start(self):
        port = free_port()
        conf = "prof:true,lg_prof_sample:14"
        server = self.launch(
            [self.program, "--port", str(port), "--bind", "127.0.0.1", "--save", "",
             "--appendonly", "no", "--dir", self.work, "--enable-debug-command", "yes"],
            env={**os.environ, "MALLOC_CONF": conf, "JE_MALLOC_CONF": conf},
        )
        self.connection = connect(port, server, self.name)
        self.answers = self.connection.makefile("rb")
        self.commands = connect(port, server, self.name)
        self.command_answers = self.commands.makefile("rb")
        self.pid, self.random = server.pid, random.Random(1)
        self.served = self.wrong = self.last_mark = 0
        self.failure = ""
        self.keys, self.numbers, self.last_key, self.pushed = {}, [], 0, 0
        self.cells = collections.defaultdict(lambda: [0, 0])  # (function, mark) -> bytes, objects
        self.lock = threading.Lock()
        self.is_paused, self.is_stopping = False, threading.Event()
        self.driver = threading.Thread(target=self.drive, daemon=True)
        self.driver.start()

    @staticmethod
    def packed(*words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        return b"*%d\r\n" % len(words) + b"".join(
            b"$%d\r\n%s\r\n" % (len(word), word) for word in words
        )

    def count(self, function, mark, size, sign=1):
        cell = self.cells[function, mark]
        cell[0] += sign * size
        cell[1] += sign

    def key(self, number):
        return f"key {number:08d}".ljust(self.KEY_LENGTH, ".")

    def write(self, number):
        """SET of a new key, or of one that there is."""
        length = self.random.choice(self.CLASSES) - self.VALUE_HEAD - self.random.randrange(8)
        known = self.keys.get(number)
        if known:
            self.count("_sdsnewlen", known[1], known[0] + self.VALUE_HEAD, -1)
        else:
            self.count("_sdsnewlen", self.last_mark, self.KEY_LENGTH + self.KEY_HEAD)
            self.numbers.append(number)
        self.count("_sdsnewlen", self.last_mark, length + self.VALUE_HEAD)
        value_mark, key_mark = self.last_mark, known[2] if known else self.last_mark
        self.keys[number] = (length, value_mark, key_mark)
        return self.packed("SET", self.key(number), b"%c" % (97 + length % 26) * length), b"+OK\r\n"

    def delete(self, place):
        number = self.numbers[place]
        self.numbers[place] = self.numbers[-1]
        self.numbers.pop()
        length, value_mark, key_mark = self.keys.pop(number)
        self.count("_sdsnewlen", value_mark, length + self.VALUE_HEAD, -1)
        self.count("_sdsnewlen", key_mark, self.KEY_LENGTH + self.KEY_HEAD, -1)
        return self.packed("DEL", self.key(number)), b":1\r\n"

    def read_back(self, number):
        length = self.keys[number][0]
        value = b"%c" % (97 + length % 26) * length
        return self.packed("GET", self.key(number)), b"$%d\r\n%s\r\n" % (length, value)

    def push(self):
        self.pushed += 1
        return self.packed("RPUSH", "list", "e" * self.ELEMENT_LENGTH), b":%d\r\n" % self.pushed

    def request(self):
        """(what is sent, what must come)"""
        chance = self.random.random()
        if len(self.numbers) < 100 or chance < 0.35:
            self.last_key += 1
            return self.write(self.last_key)
        place = self.random.randrange(len(self.numbers))
        if chance < 0.5:
            return self.write(self.numbers[place])
        if chance < 0.6:
            return self.delete(place)
        if chance < 0.72:
            return self.push()
        return self.read_back(self.numbers[place])

    def serve_batch(self):
        pairs = [self.request() for _ in range(self.BATCH)]
        self.connection.sendall(b"".join(sent for sent, _ in pairs))
        for sent, wanted in pairs:
            if self.answers.read(len(wanted)) != wanted:
                raise Failed(f"a wrong reply to {sent[:60]}")
        self.served += len(pairs)

    def drive(self):
        try:
            due = time.monotonic()
            while not self.is_stopping.wait(max(0, due - time.monotonic())):
                with self.lock:
                    if not self.is_paused:
                        self.serve_batch()
                due = max(due + self.PERIOD, time.monotonic() - 0.5)
        except Exception as error:  # whatever it is: what comes after it is worth nothing
            self.failure = f"{type(error).__name__}: {error}"
            self.wrong += 1

    def state(self):
        if self.failure:
            raise Failed(self.failure)
        return self.served, self.wrong

    def pause(self):
        with self.lock:
            self.is_paused = True

    def resume(self):
        with self.lock:
            self.is_paused = False

    def mark(self):
        with self.lock:
            self.last_mark += 1
            return self.last_mark

    def held(self, mark):
        with self.lock:
            sums = {function: (0, 0) for function in self.holders}
            for (function, since), (size, objects) in self.cells.items():
                if since >= mark:
                    sums[function] = (sums[function][0] + size, sums[function][1] + objects)
        return sums

    def debug(self, *words):
        self.commands.sendall(self.packed("DEBUG", *words))
        said = self.command_answers.readline()
        if said[:1] == b"-":
            raise Failed(f"DEBUG {' '.join(words)}: {said.decode().strip()}")
        if said[:1] == b"$" and int(said[1:]) >= 0:
            self.command_answers.read(int(said[1:]) + 2)

    def begin_own_profile(self):
        """It is active all the time: jemalloc 5.2 takes no samples in threads that are older than
        its activation.
        """
        self.debug("MALLCTL", "prof.reset", "14")

    def end_own_profile(self, path):
        self.debug("MALLCTL-STR", "prof.dump", path)
        if not os.path.exists(path):
            raise Failed("there is no profile of jemalloc's own")

    def close(self):
        if self.processes:
            self.is_stopping.set()
            self.driver.join(2 * ANSWER_SECONDS)
        super().close()


class RedisBundled(RedisKeeper):
    """Debian's patches replace the names with a prefix, so that they are left out."""

    name, about = "redis-bundled", "redis with its own jemalloc, prefix je_"
    quantum, patches = 8, False

    def compile(self, tree, *options):
        super().compile(tree, "JEMALLOC_CONFIGURE_OPTS=--enable-prof", *options)


class RedisDebian(RedisKeeper):
    name, about = "redis-debian", "redis with Debian's libjemalloc_pic.a"

    def compile(self, tree, *options):
        libraries = os.path.abspath(f"{tree}/static")
        os.makedirs(libraries, exist_ok=True)
        os.symlink(f"{LIBRARIES}/libjemalloc_pic.a", f"{libraries}/libjemalloc.a")
        super().compile(tree, "USE_SYSTEM_JEMALLOC=yes", f"REDIS_LDFLAGS=-L{libraries}", *options)


def stripped(kind):
    return type(kind.__name__ + "Stripped", (kind,), {
        "name": f"{kind.name}-stripped", "about": f"{kind.about}; stripped", "is_stripped": True,
    })


TARGETS = [
    variant
    for kind in (
        StoreTcmalloc, StoreJemalloc, StoreStatic, StoreStaticJemalloc, RedisBundled, RedisDebian,
    )
    for variant in (kind, stripped(kind))
]
