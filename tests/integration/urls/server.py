# SPDX-License-Identifier: MIT
"""Serves a profile and names as gperftools does, and answers of which no profile can be made.

Arguments: a file for the profile, and one for a line of each request. Prints the port that the
kernel has chosen.
"""
import base64
import gzip
import http.server
import sys
import threading
import time

PROFILE = """heap profile:      3:     3000 [     4:     5000] @ heap_v2/1
     1:     1000 [     2:     3000] @ 0x401001 0x402001
     2:     2000 [     2:     2000] @ 0x403001 0x402001

MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 00:00 0 /nowhere/served
"""
NAMES = {0x401000: "leaky", 0x402000: "_ZN4area4mainEv", 0x403000: "outer--inlined"}
PAGES = {"heap": PROFILE, "cmdline": "/opt/served\0--fast\0", "symbol": "num_symbols: 3\n"}
PLACES = {"/page": "<html>hello\n", "/empty": "", "/nameless/pprof/heap": PROFILE,
          "/symbolless/pprof/heap": PROFILE, "/symbolless/pprof/symbol": "num_symbols: 0\n",
          "/heap": PROFILE}
MOVES = {"/loop": "/loop", "/file": "file:///etc/passwd", "/moved": "/pprof/heap"}
CREDENTIALS = "Basic " + base64.b64encode(b"me:my@pa55").decode()
log = open(sys.argv[2], "w", encoding="ascii", buffering=1)


class Pages(http.server.BaseHTTPRequestHandler):
    def answer(self, body, status=200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else body.encode())

    def send_slowly(self, piece, pause):
        """Until the client has enough, or for a minute."""
        self.answer("")
        end = time.monotonic() + 60
        try:
            while time.monotonic() < end:
                self.wfile.write(piece)
                time.sleep(pause)
        except OSError:
            pass

    def do_GET(self):
        path = self.path.removeprefix("http://elsewhere.invalid").partition("?")[0]
        print("GET", self.path, file=log)
        if path.startswith("/locked/"):
            if self.headers["Authorization"] != CREDENTIALS:
                self.answer("", 401)
                return
            path = path.removeprefix("/locked")
        directory, _, page = path.rpartition("/")
        if directory == "/pprof" and page in PAGES:
            self.answer(PAGES[page])
        elif path in PLACES:
            self.answer(PLACES[path])
        elif path in MOVES:
            self.answer("", 302, Location=MOVES[path])
        elif path == "/gzip":
            self.answer(gzip.compress(PROFILE.encode()), Content_Encoding="gzip")
        elif path == "/packed":
            self.answer(gzip.compress(PROFILE.encode()))
        elif path == "/large":
            self.answer(PROFILE, Content_Length=str(1 << 40))
        elif path == "/short":
            self.answer(PROFILE, Content_Length=str(1 << 20))
        elif path == "/endless":
            self.send_slowly(PROFILE.encode() + bytes(1 << 20), 0)
        elif path == "/trickle":
            self.send_slowly(b" ", 0.02)
        elif path == "/silent":
            threading.Event().wait(60)
        else:
            self.answer("nothing\x1b is here\n", 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        print("POST", self.path, body, file=log)
        names = {a: NAMES.get(int(a, 16) & ~0xfff, "??") for a in body.split("+")}
        self.answer("".join(f"{address}\t{name}\n" for address, name in names.items()))

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
server.daemon_threads = True
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write(PROFILE)
print("port", server.server_port, flush=True)
server.serve_forever()
