#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Answers as a program with /pprof/heap and /pprof/symbol does: serve.py PORT HEAP PROGRAM.

It listens on loopback for at most two minutes. The heap is the file HEAP. The names are those that
addr2line finds in PROGRAM, by the memory map at the end of HEAP.
"""
import http.server
import re
import subprocess
import sys
import threading

PORT, HEAP, PROGRAM = int(sys.argv[1]), sys.argv[2], sys.argv[3]
with open(HEAP, encoding="utf-8") as file:
    TEXT = file.read()
# Where the program was mapped; its file is opened now, for it may be moved away.
BASE = min(
    int(m.group(1), 16)
    for m in re.finditer(r"^([0-9a-f]+)-.* (\S+)$", TEXT, re.M)
    if m.group(2) == PROGRAM
)
ADDRESSES = sorted(
    {
        int(a, 16) - back
        for line in TEXT.splitlines()
        if line.startswith("@")
        for a in line.split()[1:]
        for back in (0, 1)
    }
)
FOUND = subprocess.run(
    ["addr2line", "-fe", PROGRAM, *[hex(a - BASE) for a in ADDRESSES if a >= BASE]],
    check=True,
    capture_output=True,
    text=True,
)
NAMES = dict(zip([a for a in ADDRESSES if a >= BASE], FOUND.stdout.splitlines()[::2]))


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        pages = {
            "/pprof/heap": TEXT,
            "/pprof/cmdline": PROGRAM + "\n",
            "/pprof/symbol": "num_symbols: 1\n",
        }
        self.answer(pages.get(self.path.split("?")[0], ""))

    do_HEAD = do_GET

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        known = [
            (a, NAMES.get(int(a, 16), "??"))
            for a in asked.split("+")
            if re.fullmatch("0x[0-9a-f]+", a)
        ]
        self.answer("".join(f"{address} {name}\n" for address, name in known if name != "??"))


server = http.server.HTTPServer(("127.0.0.1", PORT), Handler)
threading.Timer(120, server.shutdown).start()
server.serve_forever()
