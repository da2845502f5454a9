# SPDX-License-Identifier: MIT
"""A Python program with a mix of work.

It has threads that allocate, an event loop with timers and sockets, and child processes. It checks
all results, and speaks as targets/selfcheck.h does.
"""
import asyncio
import hashlib
import subprocess
import sys
import threading
import time
import zlib

stopping = threading.Event()
progress = {}
wrong = []


def work(name, step):
    """step(n) again and again, in a thread of its own; raises where something is wrong."""
    number = 0
    try:
        while not stopping.is_set():
            step(number)
            number += 1
            progress[name] = number
    except Exception as error:  # pylint: disable=broad-except
        wrong.append(f"{name}: {error!r}")


def pack(number):
    data = bytes([number % 256]) * (1000 + number % 70000)
    assert zlib.decompress(zlib.compress(data, 1)) == data
    assert hashlib.sha256(data).digest() == hashlib.sha256(bytearray(data)).digest()


def build(number):
    table = {str(i): [i] * (i % 50) for i in range(number % 500)}
    assert sum(len(values) for values in table.values()) == sum(i % 50 for i in range(number % 500))


def spawn(number):
    text = f"{number}\n" * 100
    done = subprocess.run(["cat"], input=text, capture_output=True, text=True, check=True)
    assert done.stdout == text
    time.sleep(0.005)


async def echo(reader, writer):
    while data := await reader.read(1000):
        writer.write(data)
        await writer.drain()


async def converse():
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    number = 0
    while not stopping.is_set():
        data = bytes([number % 256]) * 1000
        writer.write(data)
        started = time.monotonic()
        assert await asyncio.wait_for(reader.readexactly(1000), 20) == data
        await asyncio.sleep(0.001)
        assert time.monotonic() - started >= 0.001
        number += 1
        progress["converse"] = number
    writer.close()
    await asyncio.sleep(0.1)  # until the other side has seen that


def run_loop():
    try:
        asyncio.run(converse())
    except Exception as error:  # pylint: disable=broad-except
        wrong.append(f"converse: {error!r}")


def answer(word):
    print(
        f"{word} bad {wrong[0]}" if wrong else f"{word} ok progress={min(progress.values())}",
        flush=True,
    )


def main():
    threads = [
        threading.Thread(target=work, args=(step.__name__, step)) for step in (pack, build, spawn)
    ] + [threading.Thread(target=run_loop)]
    for thread in threads:
        thread.start()
    while len(progress) < len(threads) and not wrong:
        time.sleep(0.01)
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "end":
            break
        answer("state")
    else:
        return
    stopping.set()
    for thread in threads:
        thread.join()
    answer("end")
    sys.exit(bool(wrong))


try:
    main()
finally:
    stopping.set()
