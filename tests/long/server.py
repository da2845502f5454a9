# SPDX-License-Identifier: MIT
"""A redis-server of these tests alone, and a steady load for it: so many requests a second, of
several kinds, over keys that all exist after a while. What it holds stays the same then.
"""
import os
import random
import shutil
import socket
import subprocess
import threading
import time

from processes import Failed, end, has_ended, launch

PATIENCE_SECONDS = 60
BATCH_SECONDS = 0.02
KEYS = 20000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def request(*words):
    """A command in redis's protocol."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


class Redis:
    def __init__(self, work):
        if not shutil.which("redis-server"):
            raise Failed("redis-server is not installed")
        self.port = free_port()
        self.process = launch(
            [
                "redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "",
                "--appendonly", "no", "--dir", work, "--hz", "50",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        self.pid = self.process.pid
        limit = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self.connection = socket.create_connection(("127.0.0.1", self.port))
                break
            except OSError:
                if has_ended(self.process) or time.monotonic() > limit:
                    raise Failed("redis-server does not listen") from None
                time.sleep(0.05)
        self.answers = self.connection.makefile("rb")

    def ask(self, *words):
        """The first line of the answer."""
        self.connection.sendall(request(*words))
        line = self.answers.readline()
        if line.startswith(b"-") or not line:
            raise Failed(f"redis answers {line!r} to {words[0]}")
        return line

    def close(self):
        self.connection.close()
        end(self.process)


class Load:
    """Requests until close(); their answers are read, and all must be right."""

    def __init__(self, port, per_second):
        self.batch = max(1, int(per_second * BATCH_SECONDS))
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.random = random.Random(22)
        self.is_over, self.failure, self.done = False, None, 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.fill()
        self.thread.start()

    def one(self):
        key = self.random.randrange(KEYS)
        value = os.urandom(8) * self.random.randrange(10, 60)
        kind = self.random.randrange(6)
        if kind == 0:
            return [request("SET", f"key:{key}", value)]
        if kind == 1:
            return [request("GET", f"key:{key}")]
        if kind == 2:  # a list that stays empty in between
            return [request("LPUSH", f"list:{key}", value), request("LPOP", f"list:{key}")]
        if kind == 3:
            return [request("HSET", f"hash:{key % 100}", f"field:{key}", value)]
        if kind == 4:
            return [request("SADD", "set", f"member:{key}")]
        return [request("SETEX", f"soon:{key}", 5, value)]

    def send(self, requests):
        """Sends them all at once, and reads as many answers."""
        self.connection.sendall(b"".join(requests))
        for _ in requests:
            line = self.answers.readline()
            if not line or line.startswith(b"-"):
                raise Failed(f"redis answers {line!r}")
            if line.startswith(b"$") and int(line[1:]) >= 0:
                self.answers.read(int(line[1:]) + 2)
        self.done += len(requests)

    def fill(self):
        """All keys, so that the load replaces what is there from its beginning."""
        self.answers = self.connection.makefile("rb")
        for first in range(0, KEYS, 500):
            keys = range(first, first + 500)
            self.send([request("SET", f"key:{key}", b"x" * 280) for key in keys])
            self.send([request("SADD", "set", f"member:{key}") for key in keys])
            self.send(
                [request("HSET", f"hash:{key % 100}", f"field:{key}", b"x" * 280) for key in keys]
            )

    def run(self):
        due = time.monotonic()
        try:
            while not self.is_over:
                self.send([one for _ in range(self.batch) for one in self.one()])
                due = max(due + BATCH_SECONDS, time.monotonic() - 1)
                time.sleep(max(0, due - time.monotonic()))
        except (OSError, Failed, ValueError) as failure:
            self.failure = str(failure)

    def close(self):
        self.is_over = True
        self.thread.join()
        self.connection.close()
        if self.failure:
            raise Failed(f"the load: {self.failure}")
