# SPDX-License-Identifier: MIT
"""Real servers with more than 100,000 blocks in use, of which they lose none, under load.

A server is asked for something again and again by a thread of ours, for which it allocates and
frees; `ask` raises if an answer is wrong.
"""
import http.client
import os
import socket
import struct
import threading
import time

from servers import GLIBC, Postgres, Python, Redis, Server, need

ENTRIES = 120000


class Busy(Server):
    """With a thread for the load."""

    def __init__(self, directory, preload=GLIBC):
        super().__init__(directory, preload)
        self.is_over, self.failure, self.rounds = False, None, 0
        self.thread = threading.Thread(target=self.ask_on, daemon=True)

    def write(self, name, lines):
        path = f"{self.directory}/{name}"
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"{line}\n" for line in lines)
        return path

    def ask_on(self):
        try:
            while not self.is_over:
                self.ask(self.rounds)
                self.rounds += 1
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.failure = error

    def begin_load(self):
        self.thread.start()

    def ask(self, number):
        raise NotImplementedError

    def end_load(self):
        self.is_over = True
        self.thread.join(30)
        if self.failure or not self.rounds:
            raise RuntimeError(f"{self.failure}: {self.errors()[-1000:]}")

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def page(self, path, wanted):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        client.request("GET", path)
        got = client.getresponse().read()
        client.close()
        if wanted not in got:
            raise ValueError(f"{path}: {got[:200]!r}")


class Asked:
    """The servers of servers.py: their load began when they were started."""

    def begin_load(self):
        pass

    def end_load(self):
        pass


class RedisKeys(Asked, Redis):
    def __init__(self, directory):
        super().__init__(directory, GLIBC)


class PythonObjects(Asked, Python):
    def __init__(self, directory):
        super().__init__(directory, GLIBC)


class Statements(Asked, Postgres):
    """A backend with prepared statements."""

    LOAD = """
        DO $$ BEGIN
            FOR i IN 1..15000 LOOP
                EXECUTE format('PREPARE statement%s AS SELECT count(*) FROM pg_class AS c, '
                               'pg_type AS t WHERE c.relname = $1 AND t.oid > %s', i, i);
            END LOOP;
        END $$;
    """ + Postgres.LOAD

    def __init__(self, directory):
        super().__init__(directory, GLIBC)


class Script(Busy):
    """An interpreter whose script serves lines: what a key has."""

    def __init__(self, directory, program, name, script):
        need(program)
        super().__init__(directory)
        path = f"{directory}/{name}"
        with open(path, "w", encoding="ascii") as file:
            file.write(script)
        self.launch([program, path, str(self.port), str(ENTRIES)])
        self.wait_port()
        self.socket = self.connect()
        self.file = self.socket.makefile("rb")

    def ask(self, number):
        key = number % ENTRIES
        self.socket.sendall(b"%d\n" % key)
        got = self.file.readline()
        if got != b"value %d" % key + b"x" * 100 + b"\n":
            raise ValueError(f"key {key}: {got[:200]!r}")


class Perl(Script):
    def __init__(self, directory):
        super().__init__(directory, "perl", "server.pl", """
use strict; use IO::Socket::INET;
my ($port, $count) = @ARGV; my %value;
$value{$_} = "value $_" . 'x' x 100 for 0 .. $count - 1;
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 5,
    ReuseAddr => 1) or die;
while (my $client = $listener->accept) {
    while (my $line = <$client>) {
        chomp $line;
        my @kept = map { $value{$line} . '' } 1 .. 50;
        delete $value{$line};
        $value{$line} = $kept[0];
        print $client "$value{$line}\\n";
    }
}
""")


class Ruby(Script):
    def __init__(self, directory):
        super().__init__(directory, "ruby", "server.rb", """
require 'socket'
port, count = ARGV.map(&:to_i)
value = {}
count.times { |i| value[i] = "value #{i}" + 'x' * 100 }
listener = TCPServer.new('127.0.0.1', port)
while (client = listener.accept)
  while (line = client.gets)
    key = line.to_i
    value[key] = "value #{key}" + 'x' * 100
    client.puts value[key]
  end
end
""")


class Node(Script):
    """Each buffer has its bytes from malloc."""

    def __init__(self, directory):
        super().__init__(directory, "node", "server.js", """
const net = require('net')
const [port, count] = process.argv.slice(2).map(Number)
const make = (key) => {
    const text = 'value ' + key + 'x'.repeat(100) + '\\n'
    const bytes = Buffer.allocUnsafeSlow(text.length)
    bytes.write(text)
    return bytes
}
const value = []
for (let i = 0; i < count; i++) value.push(make(i))
net.createServer((client) => client.on('data', (data) => {
    const key = parseInt(data)
    value[key] = make(key)
    client.write(value[key])
})).listen(port, '127.0.0.1')
""")


class Mosquitto(Busy):
    """Retained messages, one for each topic."""

    def __init__(self, directory):
        need("mosquitto")
        super().__init__(directory)
        settings = self.write("settings", [
            f"listener {self.port} 127.0.0.1", "allow_anonymous true", "persistence false",
            *(["user root"] if os.geteuid() == 0 else []),
        ])
        self.launch(["mosquitto", "-c", settings])
        self.wait_port()
        self.socket = self.connect()
        hello = struct.pack(">H4sBBHH1s", 4, b"MQTT", 4, 2, 0, 1, b"a")
        self.socket.sendall(self.packet(0x10, hello))
        if self.socket.recv(4) != b"\x20\x02\x00\x00":
            raise RuntimeError(f"mosquitto: {self.errors()}")
        self.publish(range(ENTRIES))

    @staticmethod
    def packet(kind, rest):
        size, length = len(rest), b""
        while True:
            size, digit = divmod(size, 128)
            length += bytes([digit | (0x80 if size else 0)])
            if not size:
                return bytes([kind]) + length + rest

    def publish(self, numbers):
        for number in numbers:
            topic = b"topic/%d" % (number % ENTRIES)
            self.socket.sendall(self.packet(
                0x31, struct.pack(">H", len(topic)) + topic + b"message %d" % number
            ))
        self.socket.sendall(b"\xc0\x00")
        if self.socket.recv(2) != b"\xd0\x00":
            raise ValueError("no answer to a ping")

    def ask(self, number):
        self.publish(range(100 * number, 100 * (number + 1)))


class Names(Busy):
    """A server of names, asked by UDP."""

    def ask(self, number):
        name = f"host{number % ENTRIES}"
        query = (
            struct.pack(">6H", number & 0xFFFF, 0x100, 1, 0, 0, 0)
            + b"".join(bytes([len(part)]) + part.encode() for part in (name, "test"))
            + struct.pack(">BHH", 0, 1, 1)
        )
        if not hasattr(self, "client"):
            self.client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.client.settimeout(10)
            self.client.connect(("127.0.0.1", self.port))
        self.client.send(query)
        address = socket.inet_aton(self.address(number % ENTRIES))
        got = self.client.recv(4096)
        if address not in got:
            raise ValueError(f"{name}: {got!r}")

    @staticmethod
    def address(number):
        return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    def wait_names(self):
        end = time.monotonic() + 60
        while True:
            try:
                self.ask(0)
                return
            except (OSError, ValueError) as error:
                if time.monotonic() > end or self.processes[0].poll() is not None:
                    raise RuntimeError(f"{error}: {self.errors()[-1000:]}") from error
                time.sleep(0.2)


class Dnsmasq(Names):
    def __init__(self, directory):
        need("dnsmasq")
        super().__init__(directory)
        hosts = self.write(
            "hosts", (f"{self.address(i)} host{i}.test" for i in range(ENTRIES))
        )
        self.launch([
            "dnsmasq", "-k", "-C", "/dev/null", "-h", "-H", hosts, "-p", str(self.port), "-R",
            "--listen-address=127.0.0.1", "--bind-interfaces", "--pid-file=", "-u", "root",
        ])
        self.wait_names()


class Named(Names):
    """With the jemalloc that it is linked with."""

    def __init__(self, directory):
        need("named")
        super().__init__(directory, "")
        zone = self.write("zone", [
            "$TTL 60", "@ IN SOA ns.test. root.test. 1 60 60 60 60", "@ IN NS ns.test.",
            "ns IN A 127.0.0.1", *(f"host{i} IN A {self.address(i)}" for i in range(ENTRIES)),
        ])
        settings = self.write("settings", [
            f'options {{ directory "{directory}"; listen-on port {self.port} {{ 127.0.0.1; }}; '
            f"listen-on-v6 {{ none; }}; recursion no; pid-file none; "
            f'session-keyfile "{directory}/key"; managed-keys-directory "{directory}"; }};',
            "controls { };", f'zone "test" {{ type master; file "{zone}"; }};',
        ])
        self.launch(["named", "-f", "-c", settings, "-n", "1"])
        self.wait_names()


class Haproxy(Busy):
    def __init__(self, directory):
        need("haproxy")
        super().__init__(directory)
        entries = self.write("map", (f"/path{i} value{i}" for i in range(ENTRIES)))
        settings = self.write("settings", [
            "defaults", " mode http", " timeout client 60s", " timeout server 60s",
            " timeout connect 60s", "frontend one", f" bind 127.0.0.1:{self.port}",
            f" http-request return content-type text/plain lf-string %[path,map({entries})]",
        ])
        self.launch(["haproxy", "-db", "-f", settings])
        self.wait_port()

    def ask(self, number):
        self.page(f"/path{number % ENTRIES}", b"value%d" % (number % ENTRIES))


class Beanstalkd(Busy):
    """Jobs; the load puts some, takes and deletes them."""

    def __init__(self, directory):
        need("beanstalkd")
        super().__init__(directory)
        self.launch(["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port)])
        self.wait_port()
        self.socket = self.connect()
        self.file = self.socket.makefile("rb")
        for number in range(ENTRIES):
            self.put(number)

    def say(self, line, wanted):
        self.socket.sendall(line)
        got = self.file.readline()
        if not got.startswith(wanted):
            raise ValueError(f"{line!r}: {got!r}")
        return got.split()

    def put(self, number):
        text = b"job %d" % number
        self.say(b"put 1 0 60 %d\r\n%s\r\n" % (len(text), text), b"INSERTED")

    def ask(self, number):
        self.put(number)
        _, job, size = self.say(b"reserve\r\n", b"RESERVED")
        self.file.read(int(size) + 2)
        self.say(b"delete %s\r\n" % job, b"DELETED")


ALL = (RedisKeys, PythonObjects, Statements, Perl, Ruby, Node, Mosquitto, Dnsmasq, Named, Haproxy,
       Beanstalkd)
