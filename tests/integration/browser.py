# SPDX-License-Identifier: MIT
"""A headless Chromium, driven over a pair of pipes by its DevTools protocol.

It needs only Python.

    with Browser("chromium", directory) as browser:
        page = browser.open("file:///...")
        page.evaluate("document.title")

page.requests has what the page has asked the network for, page.complaints what it complained of.
"""
import base64
import fcntl
import json
import os
import select
import subprocess
import time

ANSWER_SECONDS = 60


class BrowserError(Exception):
    pass


class CannotStart(BrowserError):
    """With the reason, in one line."""


class Browser:
    def __init__(self, program, directory):
        to_browser, from_us = os.pipe()
        from_browser, to_us = os.pipe()
        self.log_path = os.path.join(directory, "chromium.log")
        # The protocol's pipes are descriptors 3 and 4 of the browser. Before they get these
        # numbers, neither of them may have the number of the other.
        to_browser, to_us = (self.moved_up(end) for end in (to_browser, to_us))
        # As root it has no sandbox of its own, and what is opened here is our own file.
        arguments = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-extensions", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-quic",
            "--hide-scrollbars", "--force-device-scale-factor=1",
            f"--user-data-dir={directory}/chromium", "--remote-debugging-pipe",
        ]
        wrapper = f"exec 3<&{to_browser} 4>&{to_us}; exec \"$@\""
        with open(self.log_path, "wb") as log:
            try:
                self.process = subprocess.Popen(
                    ["bash", "-c", wrapper, "bash", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(to_browser, to_us),
                    env={**os.environ, "HOME": directory, "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
                )
            finally:
                os.close(to_browser)
                os.close(to_us)
        self.to, self.back = from_us, from_browser
        self.rest = b""
        self.last = 0
        self.events = {}  # by session: where its events go
        try:
            self.version = self.send("Browser.getVersion")["product"]
        except BrowserError as error:
            self.close()
            raise CannotStart(f"{program} does not start: {self.complaint() or error}") from error

    @staticmethod
    def moved_up(descriptor):
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(descriptor)
        return moved

    def complaint(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log if line.strip()]
        return lines[-1] if lines else ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.write({"id": 0, "method": "Browser.close"})
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)

    def write(self, message):
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data) :]

    def read(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.back], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.back, 1 << 16) if ready else b""
            if not data:
                raise BrowserError(
                    "the browser is gone" if ready else "the browser does not answer"
                )
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, **parameters):
        self.last += 1
        wanted = self.last
        message = {"id": wanted, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self.write(message)
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            answer = self.read(deadline)
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def note(self, message):
        handler = self.events.get(message.get("sessionId"))
        if "method" in message and handler:
            handler(message["method"], message["params"])

    def wait_event(self, done):
        deadline = time.monotonic() + ANSWER_SECONDS
        while not done():
            self.note(self.read(deadline))

    # dark, calm: what the user wishes of all pages. apart: as in a browser of its own.
    def open(self, address, width=1280, height=900, dark=False, calm=True, apart=False):
        where = self.send("Target.createBrowserContext") if apart else {}
        target = self.send("Target.createTarget", url="about:blank", **where)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        page.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )
        page.media(
            prefers_color_scheme="dark" if dark else "light",
            prefers_reduced_motion="reduce" if calm else "no-preference",
        )
        page.load(address)
        page.settle()
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        self.requests, self.complaints, self.is_loaded = [], [], False
        self.answer_to_prompt = None
        browser.events[session] = self.note
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def note(self, method, parameters):
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(
                details.get("exception", {}).get("description") or details["text"]
            )
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in (
            "error",
            "warning",
            "assert",
        ):
            self.complaints.append(
                " ".join(
                    str(argument.get("value", argument.get("description")))
                    for argument in parameters["args"]
                )
            )
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Page.loadEventFired":
            self.is_loaded = True
        elif method == "Page.javascriptDialogOpening":
            # Not by send(): this may happen while an answer is waited for.
            accept = self.answer_to_prompt is not None
            self.browser.last += 1
            self.browser.write(
                {
                    "id": self.browser.last,
                    "sessionId": self.session,
                    "method": "Page.handleJavaScriptDialog",
                    "params": {"accept": accept, "promptText": self.answer_to_prompt or ""},
                }
            )

    def load(self, address):
        self.is_loaded = False
        self.send("Page.navigate", url=address)
        self.browser.wait_event(lambda: self.is_loaded)

    def evaluate(self, expression):
        result = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise BrowserError(
                f"{expression}: "
                f"{result['exceptionDetails'].get('exception', {}).get('description')}"
            )
        return result["result"].get("value")

    # Until the browser has drawn twice: then what was done before is on the screen.
    def settle(self):
        self.evaluate(
            "new Promise((done) => "
            "requestAnimationFrame(() => requestAnimationFrame(() => done())))"
        )

    def media(self, **features):
        self.send(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
            ],
        )

    def move(self, x, y):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, start, end):
        self.move(*start)
        for kind, (x, y) in (
            ("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end),
        ):
            self.send(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1,
                clickCount=1,
            )

    def wheel(self, x, y, by):
        self.send(
            "Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by
        )

    def write(self, text):
        self.send("Input.insertText", text=text)

    # A key by its name as in KeyboardEvent.key: "Enter", "ArrowUp", "s".
    def press(self, key):
        codes = {
            "Enter": 13, "Escape": 27, "Backspace": 8, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
            "ArrowRight": 39, "ArrowDown": 40, "Tab": 9,
        }
        code = codes.get(key, ord(key[0].upper()))
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        self.send(
            "Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key,
            windowsVirtualKeyCode=code, **text,
        )
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))
