# SPDX-License-Identifier: MIT
"""Five real servers on loopback, each of which leaks in a known function, at a known rate.

A Target starts its server, and is asked to serve one request at a time, by the thread that drives
it. What leaks is an extension of ours in tests/leaks/extensions/, which build() compiles as those
of the server are; redis is filled by its client instead.
"""
import os
import random
import shlex
import shutil
import socket
import subprocess
import threading
import time

from processes import Failed, children, end, has_ended, launch, line_from, read

EXTENSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "extensions")
NGINX_SOURCES = "/usr/share/nginx/src"
NOBODY = 65534
START_SECONDS = 60
ANSWER_SECONDS = 20
FLAGS = ["-O2", "-g", "-Wall", "-Wextra", "-fPIC", "-shared"]


class Skipped(Exception):
    """A target that cannot be had here; its text says why."""


def need(package, *paths):
    for path in paths:
        if not (shutil.which(path) if os.path.basename(path) == path else os.path.exists(path)):
            raise Skipped(f"{path} is not there: install {package}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def connect(port, process, what):
    """A connection, as soon as the server listens."""
    limit = time.monotonic() + START_SECONDS
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
        except OSError as error:
            if time.monotonic() > limit or has_ended(process):
                raise Failed(f"{what} does not listen") from error
            time.sleep(0.05)


def run(command, what, **options):
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=4 * START_SECONDS, **options,
    )
    if done.returncode:
        raise Failed(f"{what}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def compile_extension(source, to, *options):
    run(
        [*shlex.split(os.environ.get("CC", "gcc")), *FLAGS, *options, "-o", to,
         os.path.join(EXTENSIONS, source)],
        source,
    )


class Target:
    """name, answers: names of functions of which each is right; period: seconds from one request to
    the next. pid is the process that leaks.
    """

    name = answers = about = None
    period = 0.01

    def __init__(self, work):
        self.work, self.pid, self.leaked = work, None, 0
        self.processes, self.failure = [], ""
        self.is_stopping = threading.Event()
        self.driver = threading.Thread(target=self.drive, daemon=True)

    def build(self):
        """Raises Skipped if the server, or what its extension takes to build, is not there."""

    def start(self):
        raise NotImplementedError

    def request(self):
        """Serves one request and checks its answer. Returns how many bytes are lost by it."""
        raise NotImplementedError

    def launch(self, command, **options):
        with open(os.path.join(self.work, "log"), "ab") as log:
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **options}
            self.processes.append(launch(command, **options))
        return self.processes[-1]

    def drive(self):
        try:
            due = time.monotonic()
            while not self.is_stopping.wait(max(0, due - time.monotonic())):
                self.leaked += self.request()
                due = max(due + self.period, time.monotonic() - 1)
        except Exception as error:  # whatever it is: the session is no longer worth anything
            self.failure = f"{self.name} does not answer ({type(error).__name__}: {error})"

    def close(self):
        self.is_stopping.set()
        if self.driver.is_alive():
            self.driver.join(2 * ANSWER_SECONDS)
        for process in reversed(self.processes):
            end(process)


class Lines(Target):
    """A program that answers each line of its standard input with one of its own."""

    def converse(self, command, **options):
        self.talker = self.launch(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **options
        )

    def ask(self, line):
        self.talker.stdin.write(line.encode() + b"\n")
        return line_from(self.talker.stdout, ANSWER_SECONDS, self.name)


class Redis(Target):
    name, about = "redis", "a client fills it with new keys, 1 MB/s"
    # These make strings, of keys and of values.
    answers = {
        "_sdsnewlen", "sdsnewlen", "createObject", "createStringObject", "createRawStringObject",
        "createEmbeddedStringObject", "processMultibulkBuffer", "dbAdd",
    }
    SETS = 10
    SIZES = (200, 1800)

    def build(self):
        need("redis-server", "redis-server")

    def start(self):
        port = free_port()
        process = self.launch([
            "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no", "--dir", self.work,
        ])
        self.connection = connect(port, process, "redis-server")
        self.answers_of = self.connection.makefile("rb")
        self.pid, self.keys, self.random = process.pid, 0, random.Random(1)

    def request(self):
        """New keys, and as many reads of older ones."""
        texts, sent = [], 0
        for _ in range(self.SETS):
            key = f"session:{self.keys}"
            value = "v" * self.random.randint(*self.SIZES)
            old = f"session:{self.random.randint(0, self.keys)}"
            texts.append(f"*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n${len(value)}\r\n{value}\r\n")
            texts.append(f"*2\r\n$6\r\nSTRLEN\r\n${len(old)}\r\n{old}\r\n")
            sent += len(key) + len(value)
            self.keys += 1
        self.connection.sendall("".join(texts).encode())
        for _ in range(self.SETS):
            if self.answers_of.readline() != b"+OK\r\n":
                raise Failed("no OK to SET")
            if int(self.answers_of.readline()[1:]) < self.SIZES[0]:
                raise Failed("a key is lost")
        return sent


class Postgres(Lines):
    name, about = "postgresql", "a function of an extension, called by one backend, 100 kB/s"
    answers = {"leak_document"}
    period = 0.05
    SIZE = 5000

    def build(self):
        root = "/usr/lib/postgresql"
        versions = sorted(os.listdir(root), key=float) if os.path.isdir(root) else []
        if not versions:
            raise Skipped("there is no PostgreSQL: install postgresql")
        self.programs = f"{root}/{versions[-1]}/bin"
        need("postgresql", f"{self.programs}/initdb", f"{self.programs}/psql")
        headers = f"/usr/include/postgresql/{versions[-1]}/server"
        need(f"postgresql-server-dev-{versions[-1]}", f"{headers}/postgres.h")
        compile_extension("leak_postgres.c", f"{self.work}/leak_postgres.so", f"-I{headers}")

    def start(self):
        """It does not run as root; nor does it need more than a directory of its own."""
        owner = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        data, port = f"{self.work}/data", str(free_port())
        if owner:
            os.chown(self.work, NOBODY, NOBODY)
        run(
            [f"{self.programs}/initdb", "-D", data, "-U", "leaks", "-A", "trust", "--no-sync",
             "-E", "UTF8", "--no-locale"],
            "initdb", cwd=self.work, **owner,
        )
        server = self.launch(
            [f"{self.programs}/postgres", "-D", data, "-h", "127.0.0.1", "-p", port, "-k", "",
             "-c", "fsync=off"],
            cwd=self.work, **owner,
        )
        connect(int(port), server, "postgres").close()
        client = [
            f"{self.programs}/psql", "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p", port,
            "-U", "leaks", "-d", "postgres",
        ]
        self.wait_until_it_serves(client)
        self.converse(client, cwd=self.work)
        self.pid = int(self.ask("SELECT pg_backend_pid();"))
        self.talker.stdin.write(
            b"CREATE TABLE document (id serial, text text);\n"
            b"CREATE FUNCTION leak(integer) RETURNS integer STRICT LANGUAGE C\n"
            b"    AS '%s/leak_postgres.so', 'leak';\n" % self.work.encode()
        )

    def wait_until_it_serves(self, client):
        limit = time.monotonic() + START_SECONDS
        while subprocess.run([*client, "-c", "SELECT 1"], check=False, capture_output=True,
                             stdin=subprocess.DEVNULL).returncode:
            if time.monotonic() > limit:
                raise Failed("postgres starts up for too long")
            time.sleep(0.1)

    def request(self):
        if self.ask("INSERT INTO document (text) VALUES (repeat('x', 200)) RETURNING 7;") != "7":
            raise Failed("no row inserted")
        self.ask("SELECT count(*) FROM document JOIN pg_class ON oid = id;")
        if self.ask(f"SELECT leak({self.SIZE});") != "1":
            raise Failed("leak() has another value")
        return self.SIZE


class Python(Lines):
    name, about = "python", "a C extension of a program in Python, 200 kB/s"
    answers = {"leak_token"}
    SIZE = 2000

    def build(self):
        python = "/usr/bin/python3"
        need("python3", python)
        headers = run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"], "python3"
        ).strip()
        need("python3-dev", f"{headers}/Python.h")
        compile_extension("leak_python.c", f"{self.work}/leak_python.so", f"-I{headers}")

    def start(self):
        self.converse(
            ["/usr/bin/python3", f"{EXTENSIONS}/worker.py"],
            env={**os.environ, "PYTHONPATH": self.work},
        )
        if line_from(self.talker.stdout, START_SECONDS, self.name) != "ready":
            raise Failed("the program is not ready")
        self.pid = self.talker.pid

    def request(self):
        if self.ask(str(self.SIZE)) != str(ord(" ")):
            raise Failed("a wrong answer")
        return self.SIZE


class Java(Lines):
    name, about = "java", "a native library of a program in Java, 200 kB/s"
    answers = {"leak_picture"}
    SIZE = 2000

    def build(self):
        need("openjdk-17-jdk-headless", "java", "javac")
        home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("javac"))))
        need("openjdk-17-jdk-headless", f"{home}/include/jni.h")
        compile_extension(
            "leak_jni.c", f"{self.work}/libleak_jni.so", f"-I{home}/include",
            f"-I{home}/include/linux",
        )
        run(["javac", "-d", self.work, f"{EXTENSIONS}/Worker.java"], "javac")

    def start(self):
        self.converse(
            ["java", "-cp", self.work, "Worker"],
            env={**os.environ, "LEAK_JNI": os.path.abspath(f"{self.work}/libleak_jni.so")},
        )
        if line_from(self.talker.stdout, START_SECONDS, self.name) != "ready":
            raise Failed("the program is not ready")
        self.pid = self.talker.pid

    def request(self):
        if self.ask(str(self.SIZE)) != "1":
            raise Failed("a wrong answer")
        return self.SIZE


class Nginx(Target):
    name, about = "nginx", "a module that loses bytes in each request, 200 kB/s"
    answers = {"leak_signature"}
    period = 0.005
    SIZE = 1000

    def build(self):
        """Its configure script works in its own directory and writes to another one."""
        need("nginx", "nginx")
        need("nginx-dev", f"{NGINX_SOURCES}/configure", f"{NGINX_SOURCES}/conf_flags")
        built = f"{self.work}/built"
        configure = (
            '. ./conf_flags; ./configure --with-cc-opt="-O2 -g -fPIC" "${NGX_CONF_FLAGS[@]}" '
            '--add-dynamic-module="$1" --builddir="$2"'
        )
        run(
            ["bash", "-ec", configure, "bash", f"{EXTENSIONS}/nginx", built], "configure of nginx",
            cwd=NGINX_SOURCES,
        )
        run(["make", "-s", "-f", f"{built}/Makefile", "modules"], "make of nginx's module",
            cwd=NGINX_SOURCES)
        self.module = f"{built}/ngx_http_leak_module.so"

    def write_configuration(self, port):
        temporary = "".join(
            f"    {kind}_temp_path {self.work}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;\n" if os.geteuid() == 0 else ""
        with open(f"{self.work}/nginx.conf", "w", encoding="utf-8") as file:
            file.write(
                f"load_module {self.module};\ndaemon off;\n{user}worker_processes 1;\n"
                f"pid {self.work}/nginx.pid;\nerror_log stderr crit;\nevents {{}}\n"
                f"http {{\n    access_log {self.work}/access.log;\n{temporary}"
                f"    keepalive_requests 1000000;\n"
                f"    server {{\n        listen 127.0.0.1:{port};\n        root {self.work};\n"
                f"        location /leak {{ leak {self.SIZE}; }}\n    }}\n}}\n"
            )

    def start(self):
        port = free_port()
        self.write_configuration(port)
        with open(f"{self.work}/page", "w", encoding="utf-8") as file:
            file.write("a page of some length\n" * 190)
        master = self.launch(["nginx", "-c", f"{self.work}/nginx.conf", "-e", "stderr"])
        self.connection = connect(port, master, "nginx")
        self.answers_of = self.connection.makefile("rb")
        self.get("/page")  # so there is a worker
        self.pid = children(master.pid)[0]

    def get(self, path):
        self.connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status, length = self.answers_of.readline(), 0
        for header in iter(self.answers_of.readline, b"\r\n"):
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            if not header:
                raise Failed("nginx hung up")
        self.answers_of.read(length)
        if b" 200 " not in status:
            raise Failed(f"GET {path}: {status.decode(errors='replace').strip()}")

    def request(self):
        self.get("/page")
        self.get("/leak")
        return self.SIZE


TARGETS = [Redis, Postgres, Python, Java, Nginx]


def log_of(target):
    """The end of what its processes said, on one line."""
    path = os.path.join(target.work, "log")
    return " ".join(read(path).split())[-200:] if os.path.exists(path) else ""
