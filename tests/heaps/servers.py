# SPDX-License-Identifier: MIT
"""Real servers, with an allocator that is preloaded, under load on loopback, and quiet after that.

What a server knows itself is compared when it is quiet, if it means the same as what explain says:

  redis       used_memory is malloc_usable_size of all blocks but those of Lua and of libraries.
              With jemalloc also stats.allocated, which has the blocks of caches in it, and MEMORY
              PURGE, which purges all arenas: before that a part of the keys is deleted
  PostgreSQL  blocks of the memory contexts of a backend: printed only, as what it allocates apart
              from them, of caches of libraries for example, is in no context
  MariaDB     Memory_used: printed only, as it counts what was asked of my_malloc and of mmap
  Python      asks its allocator (service.py), with all objects in malloc, and trims
  node        knows nothing of malloc
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

from shaped import explain
from truth import MIMALLOC_SECONDS, figures_of

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENTS = os.path.join(os.path.dirname(HERE), "torture", "environments")
GLIBC = "libc.so.6"  # before a library with malloc that a server is linked with
NOBODY = 65534
START_SECONDS, QUIET_SECONDS = 60, 2 + MIMALLOC_SECONDS
LOOKS, LOOK_SECONDS = 10, 0.3
RESIDENT, IN_USE, TRIM = 0.02, 0.01, 0.05
UNSURE = 0.25  # while thousands of blocks are replaced; most of them are read without


class Missing(Exception):
    """It is not installed."""


class Look:
    """The sum of an answer of explain."""

    def __init__(self, now):
        parts = now["parts"]
        self.resident = (sum(part["resident"] for part in parts.values()), now["resident"])
        self.apart = abs(self.resident[0] - self.resident[1]) / self.resident[1]
        self.unsure = parts["unsure"]["bytes"] / now["resident"]
        self.readers = [
            found["name"].split()[0] for found in now["allocators"] if not found["refusal"]
        ]
        self.text = ", ".join(
            f"{name} {parts[name]['bytes']}" for name in ("used", "cached", "free", "unsure")
        )

    def __str__(self):
        return f"{self.text}, resident {self.resident[0]} of {self.resident[1]}"


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(argv, **more):
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
        **more,
    )
    if done.returncode:
        raise RuntimeError(f"{argv[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def owner_of(directory):
    """PostgreSQL and MariaDB do not run as root."""
    if os.geteuid() != 0:
        return {}
    os.chown(directory, NOBODY, NOBODY)
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


class Server:
    """A process, the load for it, and all that has to be ended with it."""

    def __init__(self, directory, preload):
        self.directory, self.preload = directory, preload
        self.processes, self.load = [], None
        self.pid, self.port = 0, free_port()

    def launch(self, argv, stdin=subprocess.DEVNULL, stdout=None, environment=None, **more):
        with open(f"{self.directory}/errors", "ab") as errors:
            process = subprocess.Popen(
                argv, stdin=stdin, stdout=stdout or errors, stderr=errors, cwd=self.directory,
                env={**os.environ, "LD_PRELOAD": self.preload, **(environment or {})}, **more,
            )
        self.processes.append(process)
        self.pid = process.pid
        return process

    def errors(self):
        with open(f"{self.directory}/errors", encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_port(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.processes[0].poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"nothing listens on port {self.port}: {self.errors()[-1000:]}")

    def load_with(self, protocol):
        self.load = subprocess.Popen(
            [sys.executable, f"{ENVIRONMENTS}/load", protocol, str(self.port), "4"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii",
        )
        self.processes.append(self.load)

    def look_under_load(self, heapinject):
        looks = []
        for _ in range(LOOKS):
            time.sleep(LOOK_SECONDS)
            looks.append(Look(explain(heapinject, self.pid, "--once")["now"]))
        return looks

    def be_quiet(self):
        """After the last answer, which has to be right."""
        self.load.stdin.write("state\n")
        self.load.stdin.flush()
        said = self.load.stdout.readline()
        self.load.stdin.close()
        self.load.wait(START_SECONDS)
        if not said.startswith("ok"):
            raise RuntimeError(f"a wrong answer: {said}{self.errors()[-1000:]}")
        time.sleep(QUIET_SECONDS)

    def compare_quiet(self, _now, _reader):
        """What it says of itself: name, (said by explain, said by it), share; None: printed."""
        return []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Redis(Server):
    def __init__(self, directory, preload):
        need("redis-server", "redis-cli")
        super().__init__(directory, preload)
        self.launch(
            ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "",
             "--appendonly", "no", "--dir", directory]
        )
        self.wait_port()
        self.ask(
            "eval", "for i = 1, 200000 do redis.call('set', 'key:' .. i, "
            "string.rep('x', 100 + i % 300)) end", "0",
        )
        self.load_with("redis")

    def be_quiet(self):
        super().be_quiet()
        self.ask("eval", "for i = 1, 60000 do redis.call('del', 'key:' .. i) end", "0")

    def ask(self, *words):
        return run(["redis-cli", "-p", str(self.port), *words])

    def info(self, name):
        return int(re.search(rf"^{name}:(\d+)", self.ask("info", "memory"), re.MULTILINE)[1])

    def compare_quiet(self, now, reader):
        said = figures_of(now["parts"])
        yield "used_memory", (said["used"], self.info("used_memory")), IN_USE
        if reader != "jemalloc":
            return
        yield (
            "allocator_allocated",
            (said["used"] + said["cached"], self.info("allocator_allocated")), IN_USE,
        )
        before = anonymous_of(self.pid)
        self.ask("memory", "purge")
        yield "trim", (now["trimmable"], before - anonymous_of(self.pid)), TRIM


def anonymous_of(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Anonymous: +(\d+)", file.read(), re.MULTILINE)[1]) << 10


class Postgres(Server):
    """The backend of one connection, which sorts, hashes and joins texts."""

    LOAD = """
        DO $$
        DECLARE stop timestamptz := clock_timestamp() + interval '10 seconds';
        BEGIN
            WHILE clock_timestamp() < stop LOOP
                PERFORM count(*), max(length(t)) FROM (
                    SELECT string_agg(md5(i::text), ',' ORDER BY md5(i::text)) AS t
                    FROM generate_series(1, 20000) AS i GROUP BY i % 1000) AS many;
                EXECUTE format('CREATE TEMP TABLE kept%s AS SELECT * FROM pg_class',
                               (random() * 1e9)::bigint);
            END LOOP;
        END $$;
        SELECT 'done';
    """

    def __init__(self, directory, preload):
        super().__init__(directory, preload)
        root = "/usr/lib/postgresql"
        versions = sorted(os.listdir(root), key=float) if os.path.isdir(root) else []
        if not versions:
            raise Missing("postgresql is not installed")
        programs, data = f"{root}/{versions[-1]}/bin", f"{directory}/data"
        owner = owner_of(directory)
        run(
            [f"{programs}/initdb", "-D", data, "-U", "heaps", "-A", "trust", "--no-sync", "-E",
             "UTF8", "--no-locale"],
            cwd=directory, **owner,
        )
        self.launch(
            [f"{programs}/postgres", "-D", data, "-h", "127.0.0.1", "-p", str(self.port), "-k", "",
             "-c", "fsync=off", "-c", "work_mem=32MB"],
            **owner,
        )
        self.wait_port()
        client = [
            f"{programs}/psql", "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p", str(self.port),
            "-U", "heaps", "-d", "postgres",
        ]
        end = time.monotonic() + START_SECONDS
        while subprocess.run([*client, "-c", "SELECT 1"], check=False, capture_output=True,
                             stdin=subprocess.DEVNULL).returncode:
            if time.monotonic() > end:
                raise RuntimeError("postgres starts up for too long")
            time.sleep(0.1)
        self.client = subprocess.Popen(
            client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii"
        )
        self.processes.append(self.client)
        self.pid = int(self.ask("SELECT pg_backend_pid();"))
        self.client.stdin.write(self.LOAD)
        self.client.stdin.flush()

    def ask(self, query):
        self.client.stdin.write(query + "\n")
        self.client.stdin.flush()
        return self.client.stdout.readline().strip()

    def be_quiet(self):
        if self.client.stdout.readline() != "done\n":
            raise RuntimeError(f"the load failed: {self.errors()[-1000:]}")
        time.sleep(QUIET_SECONDS)

    def compare_quiet(self, now, _reader):
        self.ask("SELECT pg_log_backend_memory_contexts(pg_backend_pid()), pg_sleep(1);")
        total = re.findall(r"Grand total: (\d+) bytes", self.errors())
        yield "memory contexts", (figures_of(now["parts"])["used"], int(total[-1])), None


class MariaDB(Server):
    def __init__(self, directory, preload):
        need("mariadb-install-db", "mariadbd", "mariadb")
        super().__init__(directory, preload)
        data, owner = f"{directory}/data", owner_of(directory)
        run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
             "--skip-name-resolve"],
            cwd=directory, **owner,
        )
        self.launch(
            ["mariadbd", "--no-defaults", f"--datadir={data}", "--bind-address=127.0.0.1",
             f"--port={self.port}", f"--socket={directory}/socket", "--skip-grant-tables",
             "--skip-name-resolve", "--innodb-buffer-pool-size=16M",
             "--innodb-flush-log-at-trx-commit=0"],
            **owner,
        )
        self.wait_port()
        self.load_with("mariadb")

    def compare_quiet(self, now, _reader):
        said = run(
            ["mariadb", "--no-defaults", f"--socket={self.directory}/socket", "-N", "-e",
             "SHOW GLOBAL STATUS LIKE 'Memory_used'"]
        )
        yield "Memory_used", (figures_of(now["parts"])["used"], int(said.split()[1])), None


class Python(Server):
    def __init__(self, directory, preload):
        super().__init__(directory, preload)
        self.service = self.launch(
            ["/usr/bin/python3", f"{HERE}/service.py", str(self.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii",
            environment={"PYTHONMALLOC": "malloc"},
        )
        self.wait_port()
        self.load_with("http")

    def ask(self, line):
        self.service.stdin.write(line + "\n")
        self.service.stdin.flush()
        return json.loads(self.service.stdout.readline())

    def compare_quiet(self, now, _reader):
        said = figures_of(now["parts"])
        for name, value in self.ask("info").items():
            yield name, (said[name], value), IN_USE
        before = anonymous_of(self.pid)
        self.ask("trim")
        yield "trim", (now["trimmable"], before - anonymous_of(self.pid)), TRIM


class Node(Server):
    def __init__(self, directory, preload):
        need("node")
        super().__init__(directory, preload)
        self.launch(["node", f"{ENVIRONMENTS}/server.js", str(self.port)])
        self.wait_port()
        self.load_with("http")


ALL = (Redis, Postgres, MariaDB, Python, Node)
