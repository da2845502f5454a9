# SPDX-License-Identifier: MIT
"""A headless Firefox, driven by WebDriver BiDi over a socket on loopback.

It needs only Python. Pages have what those of browser.py have.
"""
import base64
import json
import os
import re
import select
import socket
import struct
import subprocess
import time

from browser import ANSWER_SECONDS, BrowserError, CannotStart

START_SECONDS = 60
# It asks the network for nothing, and nothing moves.
PREFERENCES = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "services.settings.server": "data:,",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "ui.prefersReducedMotion": 1,
}
KEYS = {
    "Enter": "\ue007", "Escape": "\ue00c", "Backspace": "\ue003", "Home": "\ue011",
    "End": "\ue010", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014",
    "ArrowDown": "\ue015", "Tab": "\ue004",
}
NUMBERS = {"NaN": float("nan"), "-0": 0, "Infinity": float("inf"), "-Infinity": float("-inf")}


class Socket:
    """Text messages over a WebSocket (RFC 6455)."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.rest = b""
        self.socket.sendall(
            f"GET /session HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n".encode()
        )
        deadline = time.monotonic() + ANSWER_SECONDS
        while b"\r\n\r\n" not in self.rest:
            self.fill(deadline)
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        if b" 101 " not in head:
            raise BrowserError(f"no WebSocket: {head.decode(errors='replace')}")

    def fill(self, deadline):
        ready, _, _ = select.select([self.socket], [], [], max(0, deadline - time.monotonic()))
        data = self.socket.recv(1 << 16) if ready else b""
        if not data:
            raise BrowserError("the browser is gone" if ready else "the browser does not answer")
        self.rest += data

    def take(self, size, deadline):
        while len(self.rest) < size:
            self.fill(deadline)
        data, self.rest = self.rest[:size], self.rest[size:]
        return data

    def write(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = (
            struct.pack(">BB", 0x81, 0x80 | size) if size < 126
            else struct.pack(">BBH", 0x81, 0xFE, size) if size < 1 << 16
            else struct.pack(">BBQ", 0x81, 0xFF, size)
        )
        repeated = (mask * (size // 4 + 1))[:size]
        masked = int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")
        self.socket.sendall(head + mask + masked.to_bytes(size, "big"))

    def read(self, deadline):
        text = b""
        while True:
            first, size = self.take(2, deadline)
            if size == 126:
                size = struct.unpack(">H", self.take(2, deadline))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.take(8, deadline))[0]
            data = self.take(size, deadline)
            if first & 0x0F == 8:
                raise BrowserError("the browser has closed the connection")
            if first & 0x0F < 3:
                text += data
                if first & 0x80:
                    return text.decode()


def value_of(remote):
    """The value that a script has returned."""
    kind, value = remote["type"], remote.get("value")
    if kind == "number":
        return NUMBERS[value] if isinstance(value, str) else value
    if kind in ("array", "set"):
        return [value_of(part) for part in value]
    if kind == "object":
        return {name: value_of(part) for name, part in value}
    return value if kind in ("string", "boolean") else None


class Firefox:
    def __init__(self, program, directory):
        self.profile = os.path.join(directory, "firefox")
        os.makedirs(self.profile)
        self.log_path = os.path.join(directory, "firefox.log")
        self.last, self.pages, self.socket = 0, {}, None
        with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as file:
            for name, value in PREFERENCES.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [program, "--headless", "--no-remote", "--profile", self.profile,
                 "--remote-debugging-port=0", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "HOME": directory, "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
            )
        try:
            self.socket = Socket(self.port())
            found = self.send("session.new", capabilities={})["capabilities"]
            self.send(
                "session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"]
            )
        except (BrowserError, OSError) as error:
            self.close()
            raise CannotStart(f"{program} does not start: {error}") from error
        self.version = f"Firefox/{found['browserVersion']}"

    def port(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with open(self.log_path, encoding="utf-8", errors="replace") as log:
                found = re.search(r"WebDriver BiDi listening on ws://[^:]+:(\d+)", log.read())
            if found:
                return int(found[1])
            time.sleep(0.05)
        raise BrowserError("it does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def send(self, method, **parameters):
        self.last += 1
        wanted = self.last
        self.socket.write(json.dumps({"id": wanted, "method": method, "params": parameters}))
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            answer = json.loads(self.socket.read(deadline))
            if answer.get("id") == wanted:
                if answer["type"] == "error":
                    raise BrowserError(f"{method}: {answer['message']}")
                return answer["result"]
            if answer["type"] == "event":
                self.note(answer["method"], answer["params"])

    def note(self, method, parameters):
        context = parameters.get("context") or parameters.get("source", {}).get("context")
        page = self.pages.get(context)
        if page and method == "network.beforeRequestSent":
            page.requests.append(parameters["request"]["url"])
        elif page and parameters.get("level") in ("warn", "error"):
            page.complaints.append(parameters["text"])

    def open(self, address, width=1280, height=900, dark=False):
        context = self.send("browsingContext.create", type="tab")["context"]
        page = self.pages[context] = FirefoxPage(self, context)
        page.send("browsingContext.setViewport", viewport={"width": width, "height": height})
        page.load(address)
        if dark:
            page.evaluate("setTheme(true)")
        page.settle()
        return page


class FirefoxPage:
    def __init__(self, browser, context):
        self.browser, self.context = browser, context
        self.requests, self.complaints = [], []

    def send(self, method, **parameters):
        return self.browser.send(method, context=self.context, **parameters)

    # What is read of a file is no request for it.
    def load(self, address):
        self.requests.append(address)
        self.send("browsingContext.navigate", url=address, wait="complete")

    def evaluate(self, expression):
        result = self.browser.send(
            "script.evaluate", expression=expression, target={"context": self.context},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise BrowserError(f"{expression}: {result['exceptionDetails']['text']}")
        return value_of(result["result"])

    def settle(self):
        self.evaluate(
            "new Promise((done) => "
            "requestAnimationFrame(() => requestAnimationFrame(() => done())))"
        )

    def act(self, kind, actions, **parameters):
        self.send(
            "input.performActions",
            actions=[{"type": kind, "id": kind, "actions": actions, **parameters}],
        )

    @staticmethod
    def to(x, y):
        return {"type": "pointerMove", "x": round(x), "y": round(y)}

    def move(self, x, y):
        self.act("pointer", [self.to(x, y)])

    def click(self, x, y):
        self.drag((x, y), (x, y))

    def drag(self, start, end):
        self.act(
            "pointer",
            [self.to(*start), {"type": "pointerDown", "button": 0}, self.to(*end),
             {"type": "pointerUp", "button": 0}],
        )

    def wheel(self, x, y, by):
        self.act(
            "wheel",
            [{"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": by}],
        )

    def press(self, key):
        self.write(KEYS.get(key, key))

    def write(self, text):
        self.act(
            "key",
            [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")],
        )

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("browsingContext.captureScreenshot")["data"]))
