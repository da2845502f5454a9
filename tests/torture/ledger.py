# SPDX-License-Identifier: MIT
"""The cycles done so far, counted by cell, and what these counts prove.

A cell is (row, loader, way to hook, event). A file keeps the counts, so that a later run goes on
where one ended.
"""
import json
import math
import os
import threading

SAVE_EVERY = 20  # cycles


def upper_bound(failures, cycles, confidence=0.95):
    """The highest failure rate that is still likely, exact (Clopper and Pearson, one-sided).
    Without failures that is the rule of three, about 3 / cycles.
    """
    if cycles <= failures:
        return 1.0
    low, high = failures / cycles, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        low, high = (
            (rate, high) if at_most(failures, cycles, rate) > 1 - confidence else (low, rate)
        )
    return high


def at_most(failures, cycles, rate):
    """Probability of so few failures or fewer."""
    if rate >= 1:
        return 0.0
    terms = (
        math.lgamma(cycles + 1)
        - math.lgamma(k + 1)
        - math.lgamma(cycles - k + 1)
        + (k * math.log(rate) if k else 0)
        + (cycles - k) * math.log1p(-rate)
        for k in range(failures + 1)
    )
    return sum(math.exp(term) for term in terms)


def new_cell():
    return {
        "cycles": 0, "gave_up": 0, "early": 0, "failures": [], "gap_us": 0, "stop_us": 0,
        "stops_us": 0, "entries": 0, "slots": 0, "eintr": 0, "lost": 0, "wanted": 0,
        "operations": 0, "stages": {}, "builds": {}, "skipped": "",
    }


class Ledger:
    """Cells by "row loader hook event". cycles counts all that ran, whatever came of them."""

    def __init__(self, path, build, resume):
        self.path, self.build = path, build
        self.lock, self.unsaved = threading.Lock(), 0
        self.cells = {}
        if resume and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                # Older files have only one way to hook.
                self.cells = {
                    key: cell
                    for key, cell in json.load(file)["cells"].items()
                    if len(key.split(" ")) == 4
                }

    def cell(self, row, loader, hook, event):
        with self.lock:
            return self.cells.setdefault(f"{row} {loader} {hook} {event}", new_cell())

    def count(self, cell, outcome, figures):
        with self.lock:
            cell["cycles"] += 1
            cell["builds"][self.build] = cell["builds"].get(self.build, 0) + 1
            cell["gave_up"] += outcome.kind == "gave-up"
            cell["early"] += outcome.kind == "early"
            if outcome.stage and outcome.kind != "gave-up":
                cell["stages"][outcome.stage] = cell["stages"].get(outcome.stage, 0) + 1
            for key in ("gap_us", "stop_us", "stops_us", "entries", "slots"):
                cell[key] = max(cell.get(key, 0), figures.get(key, 0))
        self.saved()

    def fail(self, cell, reason, running):
        with self.lock:
            cell["cycles"] += 1
            cell["builds"][self.build] = cell["builds"].get(self.build, 0) + 1
            cell["failures"].append(reason)
            cell["eintr"] += max(0, running.new_eintr if running else 0)
            cell["lost"] += max(0, running.new_lost if running else 0)
        self.saved()

    def saved(self, now=False):
        with self.lock:
            self.unsaved += 1
            if not now and self.unsaved < SAVE_EVERY:
                return
            self.unsaved = 0
            with open(f"{self.path}.new", "w", encoding="utf-8") as file:
                json.dump({"cells": self.cells}, file, indent=1)
            os.replace(f"{self.path}.new", self.path)
