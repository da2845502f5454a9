# SPDX-License-Identifier: MIT
"""What a report said, held against what the program does."""
import dataclasses
import re

FIRST, HIT, MISSED = "first", "hit", "missed"  # of leaky programs
QUIET, ALARM = "quiet", "ALARM"  # of healthy ones
FAILED = "FAILED"
GROWING = {"grows", "probably grows"}
ROWS_OF_A_HIT = 5
ROWS_KEPT = 40


def base_name(function):
    """Of "(anonymous namespace)::leak_event(int)" leak_event."""
    name = function.replace("(anonymous namespace)::", "")
    name = re.sub(r"[(<].*", "", name).strip()
    return name.split("::")[-1].split(" ")[-1]


def rate_text(rate):
    if rate is None:
        return "?"
    for unit, size in (("MB", 2**20), ("kB", 2**10)):
        if abs(rate) >= size:
            return f"{rate / size:.2f}{unit}/s"
    return f"{rate:.0f}B/s"


@dataclasses.dataclass
class Judgement:
    trial: object
    outcome: str
    row: object = None  # the one that decided
    slope: tuple = None  # (value, low, high) of all rows that name a right answer
    samples: int = None

    def holds(self):
        """Whether the interval holds the true rate; None: there is no interval."""
        return None if self.slope is None else (
            self.slope[1] <= self.trial.true_rate <= self.slope[2]
        )

    def slope_text(self):
        if self.trial.program.kind == "healthy":
            return ""
        true = rate_text(self.trial.true_rate)
        if self.slope is None:
            return f"no slope, true {true}"
        value, low, high = map(rate_text, self.slope)
        held = "holds" if self.holds() else "does not hold"
        return f"{value} ({low} .. {high}), true {true}: {held}"

    def line(self):
        program = self.trial.program
        head = f"{self.outcome:6} {program.name:22} {program.kind:8}"
        if self.outcome == FAILED:
            return f"{head} {self.trial.failure}"
        report, facts = self.trial.report, []
        if self.samples is not None:
            facts.append(f"{self.samples} samples")
        if report.interval:
            facts.append(f"one per {report.interval}")
        facts.append(f"{self.trial.cpu_share:.0%} CPU")
        function = base_name(self.row.function) if self.row else "-"
        text = f"{head} {report.verdict:16} {function:24} {self.slope_text()}".rstrip()
        return f"{text}  {', '.join(facts)}"

    def details(self):
        """For the file of details."""
        found = dataclasses.asdict(self.trial)
        found["outcome"], found["slope"], found["holds"] = self.outcome, self.slope, self.holds()
        if found["report"]:
            found["report"]["rows_in_all"] = len(found["report"]["rows"])
            del found["report"]["rows"][ROWS_KEPT:]
        return found


def add_up(rows):
    """(value, low, high) of rows that have a slope. An interval so found is rather too wide."""
    rows = [row for row in rows if None not in (row.slope, row.low, row.high)]
    if not rows:
        return None
    return tuple(sum(getattr(row, name) for row in rows) for name in ("slope", "low", "high"))


def judge_leaky(trial):
    report, answers = trial.report, trial.program.answers.split(",")
    right = [row for row in report.rows if base_name(row.function) in answers]
    growing = [row for row in right if row.verdict in GROWING]
    outcome = MISSED
    if report.verdict in GROWING:
        if any(row is report.rows[0] for row in growing):
            outcome = FIRST
        elif any(row is other for row in growing for other in report.rows[:ROWS_OF_A_HIT]):
            outcome = HIT
    counted = growing or right
    samples = [row.samples for row in counted if row.samples is not None]
    return Judgement(
        trial, outcome, report.rows[0] if report.rows else None, add_up(growing),
        sum(samples) if samples or not right else None,
    )


def judge_healthy(trial):
    report = trial.report
    growing = [row for row in report.rows if row.verdict in GROWING]
    alarm = growing or report.verdict in GROWING
    row = (growing or report.rows or [None])[0]
    return Judgement(trial, ALARM if alarm else QUIET, row, None, row.samples if row else None)


def judge(trial):
    if trial.failure:
        return Judgement(trial, FAILED)
    return judge_leaky(trial) if trial.program.kind == "leaky" else judge_healthy(trial)


def names(judgements, outcome):
    return " ".join(sorted(j.trial.program.name for j in judgements if j.outcome == outcome))


def summary(judgements):
    leaky = [j for j in judgements if j.trial.program.kind == "leaky"]
    healthy = [j for j in judgements if j.trial.program.kind == "healthy"]
    count = {
        outcome: sum(j.outcome == outcome for j in judgements)
        for outcome in (FIRST, HIT, MISSED, QUIET, ALARM, FAILED)
    }
    intervals = [j.holds() for j in leaky if j.holds() is not None]
    lines = [f"{outcome}: {names(judgements, outcome)}" for outcome in (HIT, MISSED, ALARM, FAILED)
             if count[outcome]]
    lines.append(
        f"named first {count[FIRST]} of {len(leaky)}, among five "
        f"{count[FIRST] + count[HIT]}, alarmed {count[ALARM]} of {len(healthy)}, "
        f"intervals that hold the true rate {sum(intervals)} of {len(intervals)}"
        + (f", failed {count[FAILED]}" if count[FAILED] else "")
    )
    return "\n".join(lines)
