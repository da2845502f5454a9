# SPDX-License-Identifier: MIT
"""A client of redis."""
import socket
import threading
import time

from processes import Failed
from table import Broken

PATIENCE_SECONDS = 120


class Load:
    """A client of redis that pushes to a list, a thousand times a second."""

    def __init__(self, path):
        self.client = socket.socket(socket.AF_UNIX)
        self.client.settimeout(PATIENCE_SECONDS)
        limit = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self.client.connect(path)
                break
            except OSError:
                if time.monotonic() > limit:
                    raise Failed("redis-server does not answer") from None
                time.sleep(0.1)
        self.replies = self.client.makefile("rb")
        self.is_done, self.pushed, self.error = threading.Event(), 0, None
        self.thread = threading.Thread(target=self.push_all)
        self.thread.start()

    def ask(self, *words):
        self.client.sendall(b"*%d\r\n" % len(words) + b"".join(
            b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        return self.replies.readline().strip()

    def push_all(self):
        try:
            while not self.is_done.wait(0.01):
                for _ in range(10):
                    self.pushed += 1
                    answer = self.ask(b"LPUSH", b"list", b"%0500d" % self.pushed)
                    if answer != b":%d" % self.pushed:
                        raise Failed(f"redis-server answers {answer}")
        except (OSError, Failed) as error:
            self.error = error

    def finish(self):
        self.is_done.set()
        self.thread.join()
        if self.error:
            raise Broken(f"a client of redis: {self.error}")
        return self.pushed

    def close(self):
        self.replies.close()
        self.client.close()
