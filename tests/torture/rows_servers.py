# SPDX-License-Identifier: MIT
"""Rows of real servers in service: attached to again and again under load, with every answer checked at the clients.

Each starts one server on a free port of 127.0.0.1 with its files in the scratch folder, and load for it that tells how it gets on (environments/load); what a probe
returns is the load's progress. Everything is ended by the process that started it.
"""
import os
import shutil
import socket
import subprocess
import sys
import time

from session import Lines
from table import Broken, Server, Target

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "environments")
START_SECONDS = 30
ANSWER_SECONDS = 30
NOBODY = 65534


# ---- servers and their load ----------------------------------------------------------------------------------------------------------

def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_port(process, port, errors):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    with open(errors, encoding="utf-8", errors="replace") as file:
        raise Broken(f"nothing listens on port {port}: {file.read()[-1000:]}")


def launch(folder, argv, **more):
    with open(f"{folder}/errors", "ab") as errors:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, cwd=folder, **more)


def talk(argv, **more):
    """A process that answers lines with lines."""
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
    return process, Lines(process.stdout)


def ask(server, word):
    process, lines = server.about["load"]
    try:
        process.stdin.write(f"{word}\n".encode())
        process.stdin.flush()
    except BrokenPipeError:
        raise Broken("the load ended") from None
    line = lines.next(ANSWER_SECONDS)
    if line is None:
        raise Broken(f"no answer to: {word}")
    return line


def probe_load(server):
    for process in server.processes:
        if process.poll() is not None:
            raise Broken(f"{process.args[0]} ended with {process.returncode}")
    return ask(server, "state")


def serve(folder, argv, port, protocol, pid_of=lambda process: process.pid):
    """The server, once it listens, and load for it."""
    process = launch(folder, argv)
    server = Server(process.pid, [process])
    try:
        wait_port(process, port, f"{folder}/errors")
        server.pid = pid_of(process)
        load = talk([sys.executable, f"{HERE}/load", protocol, str(port)])
    except BaseException:
        process.kill()
        process.wait()
        raise
    server.processes.append(load[0])
    server.about["load"] = load
    return server


# ---- one by one ------------------------------------------------------------------------------------------------------------------------

def start_redis(folder):
    port = free_port()
    return serve(folder, ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", folder], port, "redis")


def start_memcached(folder):
    port = free_port()
    user = ["-u", "root"] if os.geteuid() == 0 else []
    return serve(folder, ["memcached", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-m", "64", "-t", "4", *user], port, "memcached")


NGINX = """
daemon off;
{user}
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
	access_log off;
	keepalive_requests 100000;
	client_body_temp_path {folder}/body;
	proxy_temp_path {folder}/proxy;
	fastcgi_temp_path {folder}/fastcgi;
	uwsgi_temp_path {folder}/uwsgi;
	scgi_temp_path {folder}/scgi;
	server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


def only_child(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        children = file.read().split()
    if len(children) != 1:
        raise Broken(f"one child of {process.args[0]} was expected, not {children}")
    return int(children[0])


def start_nginx(folder):
    port = free_port()
    with open(f"{folder}/page", "w", encoding="ascii") as file:
        file.write("0123456789" * 2000)
    with open(f"{folder}/conf", "w", encoding="ascii") as file:
        file.write(NGINX.format(folder=folder, port=port, user="user root;" if os.geteuid() == 0 else ""))
    return serve(folder, ["nginx", "-c", f"{folder}/conf", "-e", f"{folder}/error.log"], port, "http", only_child)


def start_node(folder):
    port = free_port()
    return serve(folder, ["node", f"{HERE}/server.js", str(port)], port, "http")


# ---- postgres: the backend of pgbench's connection ---------------------------------------------------------------------------------------

BALANCE = """SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(bbalance) FROM pgbench_branches)
    AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT coalesce(sum(delta), 0) FROM pgbench_history), pg_snapshot_xmax(pg_current_snapshot())""".replace("\n", " ")
# pgbench's first connection only looks at the tables, and goes again; the one that stays writes.
BACKEND = "SELECT pid FROM pg_stat_activity WHERE application_name = 'load' AND backend_xid IS NOT NULL"


def postgres_programs():
    """Debian keeps them out of the PATH."""
    root = "/usr/lib/postgresql"
    versions = sorted(os.listdir(root), key=float) if os.path.isdir(root) else []
    folder = f"{root}/{versions[-1]}/bin" if versions else os.path.dirname(shutil.which("initdb") or "")
    return folder if os.path.exists(f"{folder}/initdb") and os.path.exists(f"{folder}/pgbench") else None


def run(argv, **more):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60, **more)
    if done.returncode:
        raise Broken(f"{os.path.basename(argv[0])}: {done.stdout}{done.stderr}")
    return done.stdout


def start_postgres(folder):
    """It will not run as root; nor does it need any more than a folder of its own."""
    programs = postgres_programs()
    owner = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    data, port = f"{folder}/data", str(free_port())
    if owner:
        os.chown(folder, NOBODY, NOBODY)
    client = {"env": {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "torture", "PGDATABASE": "postgres"}, "cwd": folder}
    run([f"{programs}/initdb", "-D", data, "-U", "torture", "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale"], cwd=folder, **owner)
    argv = [f"{programs}/postgres", "-D", data, "-h", "127.0.0.1", "-p", port, "-k", "", "-c", "fsync=off", "-c", "autovacuum=off", "-c", "shared_buffers=16MB"]
    server = Server(0, [launch(folder, argv, **owner)])
    try:
        wait_port(server.processes[0], int(port), f"{folder}/errors")
        while subprocess.run([f"{programs}/pg_isready", "-q"], check=False, **client).returncode == 1:  # it listens, and says that it is starting up
            time.sleep(0.05)
        run([f"{programs}/pgbench", "-i", "-q", "-s", "1"], **client)
        server.processes.append(launch(folder, [f"{programs}/pgbench", "-n", "-c", "1", "-T", "1000000", "-M", "prepared"], env={**client["env"], "PGAPPNAME": "load"}))
        load = talk([f"{programs}/psql", "-X", "-q", "-A", "-t", "-F", " "], **client)
        server.processes.append(load[0])
        server.about["load"] = load
        server.pid = find_backend(server)
    except BaseException:
        for process in reversed(server.processes):
            process.kill()
            process.wait()
        raise
    return server


def find_backend(server):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        line = ask(server, f"SELECT coalesce(({BACKEND}), 0);")
        if line != "0":
            return int(line)
        time.sleep(0.05)
    raise Broken("pgbench does not connect")


def probe_postgres(server):
    """Only pgbench writes: new transactions are its own. Each moves one sum between tables whose totals must agree in every snapshot."""
    for process in server.processes:
        if process.poll() is not None:
            raise Broken(f"{process.args[0]} ended with {process.returncode}")
    agrees, transaction = ask(server, f"{BALANCE};").split()
    return f"ok progress={transaction}" if agrees == "t" else "bad the tables do not agree"


# ---- the table ---------------------------------------------------------------------------------------------------------------------------

def server_row(name, start, program, **more):
    return Target(f"server-{name}", start=start, **{"probe": probe_load, "needs": [program], "events": ("cycle", "kill"), "weight": 0.25,
                                                    "varies": ("descriptors",), **more})


ROWS = [
    server_row("redis", start_redis, "redis-server"),
    server_row("memcached", start_memcached, "memcached"),
    server_row("nginx", start_nginx, "nginx"),
    server_row("node", start_node, "node", varies=("descriptors", "maps")),  # its compiler and collector map as they like
    Target("server-postgres", start=start_postgres, probe=probe_postgres, events=("cycle", "kill"), weight=0.25, varies=("descriptors", "signals"),
           available=lambda: "" if postgres_programs() else "initdb and pgbench of postgresql are not installed"),
    Target("python3", [sys.executable, f"{HERE}/python_mix.py"], events=("cycle", "kill"), weight=0.25, varies=("descriptors", "signals"), needs=["cat"]),
]
