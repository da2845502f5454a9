# SPDX-License-Identifier: MIT
"""A process of shapes.c, and what `heapinject explain` says of one."""
import json
import subprocess


class Shaped:
    def __init__(self, program, name, directory):
        self.name = name
        self.process = subprocess.Popen(
            [program, name],
            cwd=directory,
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

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return [int(number) for number in self.process.stdout.readline().split()]

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
