# SPDX-License-Identifier: MIT
"""A process of shapes.c, and what `heapinject explain` says of one."""
import json
import os
import subprocess
import time

REST_SECONDS = 60


class Shaped:
    def __init__(self, program, name, directory, preload=None):
        self.name = name
        self.process = subprocess.Popen(
            [program, name],
            cwd=directory,
            env={**os.environ, "LD_PRELOAD": preload} if preload else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="ascii",
        )
        self.said = []
        while not self.said or self.said[-1] != "ready":
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{name}: it has ended")
            self.said.append(line.strip())

    def states(self):
        """Of its threads."""
        tasks = f"/proc/{self.process.pid}/task"
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/stat", encoding="utf-8") as file:
                yield file.read().rsplit(")", 1)[1].split()[0]

    def wait_until_it_rests(self):
        """What a thread does between its last word and its wait can touch memory."""
        end = time.monotonic() + REST_SECONDS
        while set(self.states()) != {"S"}:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: it does not rest")
            time.sleep(0.001)

    def ask_figures(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        return {name: int(value) for name, value in (word.split("=") for word in words)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def explain(heapinject, pid, *options):
    done = subprocess.run(
        [heapinject, "explain", str(pid), "--json", *options],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(f"explain: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)
