# SPDX-License-Identifier: MIT
"""service.py PORT: serves HTTP, keeps objects that each request replaces some of, and obeys lines:
`info` prints what the allocator says, by the names of truth.py; `trim` has it give back what it
can.
"""
import ctypes
import http.server
import json
import random
import sys
import threading

PAGE = b"0123456789" * 2000  # which the load asks for
KEPT, REPLACED = 50000, 100
ALL = "4096"  # all arenas of jemalloc
library = ctypes.CDLL(None)
kept = [{"name": f"n{i}", "data": bytes(i % 900)} for i in range(KEPT)]


class Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks".split()
    ] + [("keepcost", ctypes.c_size_t)]


def control(name, new=None):
    """mallctl: the value, or sets one."""
    value, size = ctypes.c_size_t(), ctypes.c_size_t(ctypes.sizeof(ctypes.c_size_t))
    if new is None:
        library.mallctl(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
    else:
        written = ctypes.c_uint64(new)
        library.mallctl(name.encode(), None, None, ctypes.byref(written),
                        ctypes.c_size_t(ctypes.sizeof(written)))
    return value.value


def jemalloc():
    control("epoch", 1)
    cached = control(f"stats.arenas.{ALL}.tcache_bytes")
    internal = control(f"stats.arenas.{ALL}.internal")
    return {"used": control("stats.allocated") - internal - cached, "cached": cached}


def tcmalloc():
    used = ctypes.c_size_t()
    library.MallocExtension_GetNumericProperty(
        b"generic.current_allocated_bytes", ctypes.byref(used)
    )
    return {"used": used.value}


def mimalloc():
    return {}  # its statistics of a release build count no blocks


def glibc():
    library.mallinfo2.restype = Mallinfo2
    info = library.mallinfo2()
    return {"in_use": info.uordblks + info.hblkhd, "free": info.fordblks}


# the function that only it has: its figures, how it gives memory back
ALLOCATORS = {
    "MallocExtension_ReleaseFreeMemory": (
        tcmalloc, lambda: library.MallocExtension_ReleaseFreeMemory()
    ),
    "mi_collect": (mimalloc, lambda: library.mi_collect(True)),
    "mallctl": (jemalloc, lambda: library.mallctl(f"arena.{ALL}.purge".encode(), None, None, None,
                                                  ctypes.c_size_t(0))),
    "malloc_trim": (glibc, lambda: library.malloc_trim(ctypes.c_size_t(0))),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        for _ in range(REPLACED):
            at = random.randrange(KEPT)
            kept[at] = {"name": f"n{at}", "data": bytes(random.randrange(900))}
        self.send_response(200 if self.path == "/page" else 404)
        body = PAGE if self.path == "/page" else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    figures, trim = next(
        of for name, of in ALLOCATORS.items() if hasattr(library, name)
    )
    figures()  # what is loaded and made for it the first time
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for line in sys.stdin:
        if line == "info\n":
            print(json.dumps(figures()), flush=True)
        else:
            trim()
            print("{}", flush=True)


if __name__ == "__main__":
    main()
