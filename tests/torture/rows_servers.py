# SPDX-License-Identifier: MIT
"""Rows of real servers in service.

Attach and detach run again and again under load, and the clients check every answer. Each row
starts one server on a free port of 127.0.0.1 with its files in the scratch directory, and a load
for it that reports its progress (environments/load). A probe returns the progress of the load. The
process that started a child also ends it.
"""
import glob
import os
import re
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


# ---- servers and their load ----------------------------------------------------------------------


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


def launch(directory, argv, **more):
    with open(f"{directory}/errors", "ab") as errors:
        return subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, cwd=directory, **more
        )


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


def serve(
    directory, argv, port, protocol, pid_of=lambda process: process.pid, connections=4, **more
):
    """The server, once it listens, and load for it."""
    process = launch(directory, argv, **more)
    server = Server(process.pid, [process])
    try:
        wait_port(process, port, f"{directory}/errors")
        server.pid = pid_of(process)
        load = talk([sys.executable, f"{HERE}/load", protocol, str(port), str(connections)])
    except BaseException:
        process.kill()
        process.wait()
        raise
    server.processes.append(load[0])
    server.about["load"] = load
    return server


# ---- one by one ----------------------------------------------------------------------------------


def start_redis(directory):
    port = free_port()
    return serve(
        directory,
        [
            "redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "",
            "--appendonly", "no", "--dir", directory,
        ],
        port,
        "redis",
    )


def start_memcached(directory):
    port = free_port()
    user = ["-u", "root"] if os.geteuid() == 0 else []
    return serve(
        directory,
        ["memcached", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-m", "64", "-t", "4", *user],
        port,
        "memcached",
    )


PAGE = "0123456789" * 2000  # which the load asks for
NGINX = """
daemon off;
{user}
worker_processes 1;
pid {directory}/pid;
error_log {directory}/error.log;
events {{ worker_connections 256; }}
http {{
	access_log off;
	keepalive_requests 100000;
	client_body_temp_path {directory}/body;
	proxy_temp_path {directory}/proxy;
	fastcgi_temp_path {directory}/fastcgi;
	uwsgi_temp_path {directory}/uwsgi;
	scgi_temp_path {directory}/scgi;
	server {{ listen 127.0.0.1:{port}; root {directory}; }}
}}
"""


def only_child(process):
    """It comes a little later than the port."""
    end = time.monotonic() + START_SECONDS
    children = []
    while time.monotonic() < end and len(children) != 1:
        time.sleep(0.05)
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            children = file.read().split()
    if len(children) != 1:
        raise Broken(f"one child of {process.args[0]} was expected, not {children}")
    return int(children[0])


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def start_nginx(directory):
    port = free_port()
    write(f"{directory}/page", PAGE)
    write(
        f"{directory}/conf",
        NGINX.format(
            directory=directory, port=port, user="user root;" if os.geteuid() == 0 else ""
        ),
    )
    return serve(
        directory, ["nginx", "-c", f"{directory}/conf", "-e", f"{directory}/error.log"], port,
        "http", only_child,
    )


def start_node(directory):
    port = free_port()
    return serve(directory, ["node", f"{HERE}/server.js", str(port)], port, "http")


# One process that serves one connection after the other. PHP takes its memory from malloc, not from
# its own allocator, which makes a few large mappings.
APACHE = """
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {directory}/pid
ErrorLog {directory}/error.log
DocumentRoot {directory}
{user}
LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule alias_module {modules}/mod_alias.so
LoadModule mime_module {modules}/mod_mime.so
LoadModule php_module {modules}/{php}
TypesConfig /dev/null
AddHandler application/x-httpd-php .php
Alias /page {directory}/page.php
StartServers 1
MinSpareServers 1
MaxSpareServers 1
MaxRequestWorkers 1
MaxKeepAliveRequests 0
"""
PHP = """<?php
$parts = [];
for ($i = 0; $i < 2000; $i++)
	$parts[] = strrev("9876543210");
$page = implode("", $parts);
header("Content-Length: " . strlen($page));
echo $page;
"""
APACHE_MODULES = "/usr/lib/apache2/modules"


def php_module():
    """Its name has its version in it."""
    names = sorted(os.listdir(APACHE_MODULES)) if os.path.isdir(APACHE_MODULES) else []
    return next((name for name in names if name.startswith("libphp")), None)


def start_apache(directory):
    port = free_port()
    write(f"{directory}/page.php", PHP)
    # Under root its children are another user's, who has to be able to read the page.
    write(
        f"{directory}/conf",
        APACHE.format(
            directory=directory, port=port, modules=APACHE_MODULES, php=php_module(),
            user="User nobody\nGroup nogroup" if os.geteuid() == 0 else "",
        ),
    )
    if os.geteuid() == 0:
        os.chown(directory, NOBODY, NOBODY)
    # At its end it sends SIGTERM to all of its process group, which must not be ours.
    return serve(
        directory, ["apache2", "-d", directory, "-f", f"{directory}/conf", "-DFOREGROUND"], port,
        "http", only_child, connections=1, env={**os.environ, "USE_ZEND_ALLOC": "0"},
        start_new_session=True,
    )


HAPROXY = """
global
	nbthread 4
	tune.bufsize 32768
defaults
	mode http
	timeout client 60s
frontend load
	bind 127.0.0.1:{port}
	http-request return status 404 unless {{ path /page }}
	http-request return status 200 content-type text/plain lf-file {directory}/page
"""


def start_haproxy(directory):
    port = free_port()
    write(f"{directory}/page", PAGE)
    write(f"{directory}/conf", HAPROXY.format(directory=directory, port=port))
    return serve(directory, ["haproxy", "-db", "-f", f"{directory}/conf"], port, "http")


ERLANG = (
    '{{ok, _}} = application:ensure_all_started(inets),\n'
    '{{ok, _}} = inets:start(httpd, [{{port, {port}}}, {{bind_address, {{127, 0, 0, 1}}}}, '
    '{{server_name, "localhost"}}, {{server_root, "{directory}"}},\n'
    '    {{document_root, "{directory}"}}, {{keep_alive, true}}, '
    '{{max_keep_alive_request, 1000000}}, {{keep_alive_timeout, 60}}]),\n'
    'ok = file:write_file("{directory}/ready", "").'
)


def start_beam(directory):
    def once_ready(process):
        """It listens before it can answer."""
        end = time.monotonic() + START_SECONDS
        while not os.path.exists(f"{directory}/ready"):
            if time.monotonic() > end:
                raise Broken("httpd does not start")
            time.sleep(0.05)
        return process.pid

    port = free_port()
    write(f"{directory}/page", PAGE)
    return serve(
        directory,
        [
            "erl", "-noshell", "-boot", "start_clean",
            "-eval", ERLANG.format(directory=directory, port=port),
        ],
        port,
        "http",
        once_ready,
    )


def start_mariadb(directory):
    """Anybody may connect, with all rights, to the server on loopback while the row lasts."""
    port, data = free_port(), f"{directory}/data"
    owner = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if owner:
        os.chown(directory, NOBODY, NOBODY)
    run(
        [
            "mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
            "--skip-name-resolve",
        ],
        cwd=directory,
        **owner,
    )
    return serve(
        directory,
        [
            "mariadbd", "--no-defaults", f"--datadir={data}", "--bind-address=127.0.0.1",
            f"--port={port}", f"--socket={directory}/socket", "--skip-grant-tables",
            "--skip-name-resolve", "--innodb-buffer-pool-size=16M",
            "--innodb-flush-log-at-trx-commit=0",
        ],
        port,
        "mariadb",
        **owner,
    )


# ---- postgres: the backend of pgbench's connection -----------------------------------------------

BALANCE = (
    "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = "
    "(SELECT sum(bbalance) FROM pgbench_branches)\n"
    "    AND (SELECT sum(tbalance) FROM pgbench_tellers) = "
    "(SELECT coalesce(sum(delta), 0) FROM pgbench_history), "
    "pg_snapshot_xmax(pg_current_snapshot())"
).replace("\n", " ")
# pgbench's first connection only looks at the tables, and goes again; the one that stays writes.
BACKEND = (
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'load' AND backend_xid IS NOT NULL"
)


def postgres_programs():
    """Debian keeps them out of the PATH."""
    root = "/usr/lib/postgresql"
    versions = sorted(os.listdir(root), key=float) if os.path.isdir(root) else []
    directory = (
        f"{root}/{versions[-1]}/bin" if versions else os.path.dirname(shutil.which("initdb") or "")
    )
    return (
        directory
        if os.path.exists(f"{directory}/initdb") and os.path.exists(f"{directory}/pgbench")
        else None
    )


def run(argv, **more):
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
        **more,
    )
    if done.returncode:
        raise Broken(f"{os.path.basename(argv[0])}: {done.stdout}{done.stderr}")
    return done.stdout


def start_postgres(directory):
    """It will not run as root; nor does it need any more than a directory of its own."""
    programs = postgres_programs()
    owner = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    data, port = f"{directory}/data", str(free_port())
    if owner:
        os.chown(directory, NOBODY, NOBODY)
    client = {
        "env": {
            **os.environ, "PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "torture",
            "PGDATABASE": "postgres",
        },
        "cwd": directory,
    }
    run(
        [
            f"{programs}/initdb", "-D", data, "-U", "torture", "-A", "trust", "--no-sync",
            "-E", "UTF8", "--no-locale",
        ],
        cwd=directory,
        **owner,
    )
    argv = [
        f"{programs}/postgres", "-D", data, "-h", "127.0.0.1", "-p", port, "-k", "",
        "-c", "fsync=off", "-c", "autovacuum=off", "-c", "shared_buffers=16MB",
    ]
    server = Server(0, [launch(directory, argv, **owner)])
    try:
        wait_port(server.processes[0], int(port), f"{directory}/errors")
        # The server listens, and says that it is starting up.
        while (
            subprocess.run([f"{programs}/pg_isready", "-q"], check=False, **client).returncode == 1
        ):
            time.sleep(0.05)
        run([f"{programs}/pgbench", "-i", "-q", "-s", "1"], **client)
        server.processes.append(
            launch(
                directory,
                [f"{programs}/pgbench", "-n", "-c", "1", "-T", "1000000", "-M", "prepared"],
                env={**client["env"], "PGAPPNAME": "load"},
            )
        )
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
    """Only pgbench writes, so new transactions are its own. Each moves one sum between tables whose
    totals must agree in every snapshot.
    """
    for process in server.processes:
        if process.poll() is not None:
            raise Broken(f"{process.args[0]} ended with {process.returncode}")
    agrees, transaction = ask(server, f"{BALANCE};").split()
    return f"ok progress={transaction}" if agrees == "t" else "bad the tables do not agree"


# ---- the table -----------------------------------------------------------------------------------


def server_row(name, start, program, **more):
    return Target(
        f"server-{name}",
        start=start,
        **{
            "probe": probe_load, "needs": [program], "events": ("cycle", "kill"), "weight": 0.25,
            "varies": ("descriptors",), **more,
        },
    )


def newest_java():
    """Of the JVMs beside the one of the path."""
    others = {
        int(found[1]): path
        for path in glob.glob("/usr/lib/jvm/*/bin/java")
        if (found := re.search(r"/jvm/[a-z-]*?(?:1\.)?([0-9]+)\b", path))
    }
    return others[max(others)] if len(others) > 1 else "java"


# Its threads, mappings and descriptors come and go with its compilers, collectors and classes.
def jvm_row(name, java, **more):
    return Target(
        name, [java, "-Xmx128m", f"{HERE}/JvmMix.java"], events=("cycle", "kill"), weight=0.25,
        varies=("descriptors", "maps", "signals", "threads"), **more
    )


ROWS = [
    server_row("redis", start_redis, "redis-server"),
    server_row("memcached", start_memcached, "memcached"),
    server_row("nginx", start_nginx, "nginx"),
    # Its compiler and its collector map memory at any time.
    server_row("node", start_node, "node", varies=("descriptors", "maps")),
    server_row("haproxy", start_haproxy, "haproxy"),
    server_row("beam", start_beam, "erl", varies=("descriptors", "maps")),  # so does its allocator
    server_row("mariadb", start_mariadb, "mariadbd", varies=("descriptors", "signals", "threads")),
    server_row(
        "mod_php",
        start_apache,
        "apache2",
        available=lambda: "" if php_module() else "libapache2-mod-php is not installed",
    ),
    Target(
        "server-postgres",
        start=start_postgres,
        probe=probe_postgres,
        events=("cycle", "kill"),
        weight=0.25,
        varies=("descriptors", "signals"),
        available=lambda: ""
        if postgres_programs()
        else "initdb and pgbench of postgresql are not installed",
    ),
    Target(
        "python3", [sys.executable, f"{HERE}/python_mix.py"], events=("cycle", "kill"), weight=0.25,
        varies=("descriptors", "signals"), needs=["cat"],
    ),
    jvm_row("jvm", "java", needs=["java"]),
    jvm_row(
        "jvm-newest", newest_java(),
        available=lambda: "" if newest_java() != "java" else "there is no other JVM",
    ),
]
