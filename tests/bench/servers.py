# SPDX-License-Identifier: MIT
"""redis, memcached and nginx under their usual load generators on loopback.

Each runs without a profiler, and with one in the same process. A trial uses a new server. It warms
up, gets the load once as a reference, then the profiler attaches (or does not, for the A/A
control), and the server gets the same load again. The result is the ratio of the two. A profiler
that starts with the server has no reference in the same process; it is compared with its base
configuration over the rounds.
"""
import csv
import io
import os
import re
import shutil
import socket
import subprocess
import time

from processes import Failed, cpu_ns, end, has_ended, launch, resident_bytes

HERE_LIMIT_S = 120
START_LIMIT_S = 20
SLOW_SHARE = 0.1  # of the requests, where each takes ten times as long
WARM_SHARE = 0.2


class Reading:
    """One load: requests per second, p99 in ms, CPU time of the server per request in us."""

    def __init__(self, rps, p99_ms, cpu_us):
        self.rps, self.p99, self.cpu = rps, p99_ms, cpu_us


class Trial:
    def __init__(self):
        # test: Reading, before the profiler attached; empty if it was there from the start.
        self.reference = {}
        self.readings = {}
        self.attach_s = None
        self.facts = None
        self.resident = None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(command, what):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=HERE_LIMIT_S, check=False
    )
    if done.returncode:
        raise Failed(f"{what}: {done.stderr.strip()[:200]}")
    return done.stdout


class Server:
    """A server that was started; pid is the process that serves."""

    name = programs = tests = None

    def __init__(self, profiler, work, options):
        self.work, self.options, self.port = work, options, free_port()
        variables, self.helper = profiler.environment(work)
        self.process = launch(
            self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, **variables),
        )
        self.pid = self.process.pid
        self.wait_until_it_listens()
        self.prepare()

    def wait_until_it_listens(self):
        limit = time.monotonic() + START_LIMIT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError as error:
                if time.monotonic() > limit or has_ended(self.process):
                    raise Failed(f"{self.name} does not listen") from error
                time.sleep(0.02)

    def command(self):
        raise NotImplementedError

    def prepare(self):
        """Whatever is to be in it before the first load."""

    def load(self, test, share):
        """A Reading without CPU time, and the number of requests."""
        raise NotImplementedError

    def read(self, test, share):
        before = cpu_ns(self.pid)
        reading, requests = self.load(test, share)
        reading.cpu = (cpu_ns(self.pid) - before) / requests / 1000
        return reading

    def close(self):
        end(self.process)
        if self.helper:
            end(self.helper)


class Redis(Server):
    name, programs = "redis", ("redis-server", "redis-benchmark", "redis-cli")
    # name: (command, pipeline, requests)
    tests = {
        "SET -P 16": ("set", 16, 300000), "GET -P 16": ("get", 16, 300000),
        "LPUSH -P 16": ("lpush", 16, 300000), "SET": ("set", 1, 40000), "GET": ("get", 1, 40000),
    }
    KEYS = 100000

    def command(self):
        return [
            "redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no", "--dir", self.work, "--enable-debug-command", "local",
        ]

    def ask(self, *words):
        return run(["redis-cli", "-p", str(self.port), *words], "redis-cli")

    def prepare(self):
        self.ask("DEBUG", "POPULATE", str(self.KEYS), "key", "64")

    def load(self, test, share):
        command, pipeline, requests = self.tests[test]
        requests = int(requests * share * self.options.server_share)
        self.ask("DEL", "mylist")
        table = run(
            [
                "redis-benchmark", "-p", str(self.port), "-t", command, "-n", str(requests),
                "-r", str(self.KEYS), "-P", str(pipeline), "--csv",
            ],
            "redis-benchmark",
        )
        row = list(csv.DictReader(io.StringIO(table)))[0]
        return Reading(float(row["rps"]), float(row["p99_latency_ms"]), 0), requests


class Memcached(Server):
    name, programs = "memcached", ("memcached",)
    tests = {"get/set": None}

    def command(self):
        return [
            "memcached", "-p", str(self.port), "-U", "0", "-l", "127.0.0.1", "-t", "2", "-m", "256",
        ] + (["-u", "root"] if os.geteuid() == 0 else [])

    def load(self, test, share):
        seconds = self.options.window * share
        words = run(
            [os.path.join(self.options.build, "memcached_load"), str(self.port), str(seconds)],
            "memcached_load",
        ).split()
        return Reading(float(words[0]), float(words[2]), 0), int(words[3])


class Nginx(Server):
    name, programs = "nginx", ("nginx", "wrk")
    tests = {"4 KB file": None}

    def command(self):
        page = os.path.join(self.work, "page")
        with open(page, "wb") as file:
            file.write(b"a page of some length\n" * 190)
        temporary = "".join(
            f"    {kind}_temp_path {self.work}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        configuration = os.path.join(self.work, "nginx.conf")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(
                f"daemon off;\nmaster_process off;\npid {self.work}/nginx.pid;\n"
                f"error_log stderr crit;\nevents {{}}\nhttp {{\n    access_log off;\n{temporary}"
                f"    server {{\n        listen 127.0.0.1:{self.port};\n        root {self.work};\n"
                f"    }}\n}}\n"
            )
        return ["nginx", "-c", configuration, "-e", "stderr"]

    def load(self, test, share):
        # wrk counts in whole seconds
        text = run(
            [
                "wrk", "-t1", "-c16", f"-d{max(1, round(self.options.window * share))}",
                "--latency", f"http://127.0.0.1:{self.port}/page",
            ],
            "wrk",
        )
        found = (
            re.search(r"99%\s+([\d.]+)(us|ms|s)\b", text),
            re.search(r"(\d+) requests in", text),
            re.search(r"Requests/sec:\s+([\d.]+)", text),
        )
        if not all(found) or "Non-2xx" in text:
            raise Failed(f"wrk: {text.strip()[-200:]}")
        return Reading(
            float(found[2][1]),
            float(found[0][1]) * {"us": 0.001, "ms": 1, "s": 1000}[found[0][2]],
            0,
        ), int(found[1][1])


SERVERS = [Redis, Memcached, Nginx]


def missing(server):
    return "".join(
        f"{program} is not installed" for program in server.programs if not shutil.which(program)
    )[:80]


def measure(kind, profiler, options, work):
    server = kind(profiler, work, options)
    try:
        return run_trial(server, profiler, work)
    finally:
        server.close()


def run_trial(server, profiler, work):
    trial = Trial()
    share = SLOW_SHARE if profiler.is_slow else 1
    is_launched = profiler.variables and not profiler.attach
    for test in server.tests:
        server.load(test, WARM_SHARE * share)
    if not is_launched:
        trial.reference = {test: server.read(test, share) for test in server.tests}
    resident_before = resident_bytes(server.pid)
    session = profiler.attach(server.pid, work) if profiler.attach else None
    trial.readings = {test: server.read(test, share) for test in server.tests}
    resident_while = resident_bytes(server.pid)
    if session:
        trial.attach_s = session.attach_s
        trial.facts = session.detach()
    trial.resident = (resident_before, resident_while, resident_bytes(server.pid))
    return trial
