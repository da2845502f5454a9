# SPDX-License-Identifier: MIT
"""The events: what the suite does to a target.

Each event is a function that does one cycle of it, and a line of the table at the end. An event
raises Broken when heapinject does not do what it must. After each cycle the caller (run) checks
that the target is as it was.
"""
import contextlib
import os
import re
import signal
import subprocess
import time

from observe import trace_of
from session import ATTACHED
from surroundings import clock_jump, full_disk
from table import Broken, Event, Outcome, Skip
from trial import BEFORE_THE_END

DEAD_MAN_SECONDS = 5.0  # the payload disarms itself when nobody has been heard of for so long
LONG_PAUSE_EVERY = 12  # cycles of which one outlasts that
END_SECONDS = 30
REFUSAL_CODES = (0, 1, 3)
COUNT_TRIES = 5  # the dlopen loader may give up


# ---- heapinject alone ----


def cycle(trial):
    session = trial.session()
    if not trial.attach(session):
        return trial.judge(session)
    trial.sample(session)
    trial.end(session)
    return trial.judge(session)


def refused(trial):
    """Of a target that cannot be profiled: the right words, and nothing changed in it."""
    session = trial.session()
    if trial.attach(session):
        raise Broken("attached to a target that is to be refused")
    trial.judge(session, (1, 3))
    for words in trial.running.target.words:
        if words not in session.text:
            raise Broken(f"the refusal does not say {words!r}: {session.text}")
    return Outcome()


def kill(trial):
    """SIGKILL of the injector, then what its user would do."""
    session = trial.start_and_reach(output=trial.prefix() if trial.index % 8 == 0 else "-")
    was_attached, had_ended = session.is_attached, session.process.poll() is not None
    session.send(signal.SIGKILL)
    session.process.wait()
    trace = trace_of(trial.running.pid)
    trial.clean_up()
    if had_ended:
        trial.stage = "after its end"
    elif session.is_terminated:
        trial.stage = "detaching" if trace != "none" else "ending"
    elif was_attached:
        trial.stage = "sampling"
    else:
        trial.stage = {
            "none": "preparing, borrowing",
            "descriptor": "mapping",
            "mapped": "publishing, patching",
        }[trace]
    return Outcome("early" if had_ended else "done", trial.stage)


def pause(trial):
    """The injector stops, the target runs on; sometimes for longer than the deadman waits."""
    session = trial.start_and_reach()
    is_long = trial.index % LONG_PAUSE_EVERY == 0
    session.send(signal.SIGSTOP)
    time.sleep(DEAD_MAN_SECONDS + 1 if is_long else trial.random.uniform(0.001, 0.2))
    trial.running.check_alive()
    session.send(signal.SIGCONT)
    return tolerant(trial, session)


def tolerant(trial, session):
    """For a session that may fail, with a message, because of what the event did to it. It must
    end, and detach must be able to remove what it leaves.
    """
    outcome = trial.conclude(session, (*REFUSAL_CODES, -signal.SIGKILL))
    # A text that says so comes from its watchdog, which sends SIGKILL itself.
    if session.code == -signal.SIGKILL and "stood still while it held a thread" not in session.text:
        raise Broken(f"heapinject was killed: {session.text}")
    if session.code:
        # The target may still be returning from the last call that heapinject made it do.
        trial.running.ask_progress()
        trial.clean_up_if_left()
    return outcome


# ---- output ----


def no_space(trial):
    """The disk is full, the device takes nothing, or a file may not grow: then attach is refused,
    as memory of the arena is a file, too.
    """
    kind = trial.index % 3
    if kind == 2:
        prefix = ["prlimit", "--fsize=4096"]
        session = trial.session(output=f"{trial.running.directory}/profile", prefix=prefix)
        if trial.attach(session):
            raise Broken("attached, though it may make no file of the arena's size")
        outcome = trial.judge(session, (3,))
        if outcome.kind == "done" and "ulimit -f" not in session.text:
            raise Broken(f"not said what is wrong: {session.text}")
        return outcome
    if kind == 0:
        with open("/dev/full", "wb") as device:
            session = trial.session(stdout=device, options=["-c", "4K"])
            # Samples enough that something has to be written.
            ended = not trial.attach(session) or not session.listen(1)
    else:
        output = full_disk(trial.bench)
        session = trial.session(output=f"{output}/profile", options=["-c", "4K"])
        ended = not trial.attach(session) or not session.listen(0.05)
    if not ended:
        session.terminate()
    if session.code is None:
        session.wait()
    return trial.judge(session, (1,))


def unwritable(trial):
    """Where nothing can be written: told before the target is touched."""
    trial.notes.append("no directory" if trial.index % 2 else "a file for a directory")
    output = "/nonexistent/profile" if trial.index % 2 else "/dev/null/profile"
    session = trial.session(output=output)
    if trial.attach(session):
        raise Broken("attached, though there is nowhere to write")
    outcome = trial.judge(session, (1,))
    if outcome.kind == "done" and "cannot write" not in session.text:
        raise Broken(f"not said what is wrong: {session.text}")
    return outcome


def analyzer(trial):
    """The analyzer, a child of the injector, is killed."""
    session = trial.session(output=trial.prefix())
    if not trial.attach(session):
        return trial.judge(session)
    trial.sample(session)
    children = []
    for tid in os.listdir(f"/proc/{session.pid}/task"):
        with open(f"/proc/{session.pid}/task/{tid}/children", encoding="ascii") as file:
            children += [int(child) for child in file.read().split()]
    if not children:
        raise Broken("there is no analyzer")
    for child in children:
        with contextlib.suppress(ProcessLookupError):  # a look at the heap that has ended
            os.kill(child, signal.SIGKILL)
    trial.sample(session)
    trial.end(session)
    # It ends by itself; once the target is left, our SIGTERM ends it at once.
    return trial.judge(session, (1, -signal.SIGTERM))


# ---- the target's own end ----


def ends(trial, strike, expected):
    """strike(running) ends the target at a random instant; heapinject says so and ends, too."""
    session = trial.start_and_reach(output=trial.prefix() if trial.index % 4 == 0 else "-")
    strike(trial.running)
    outcome = trial.judge(session, REFUSAL_CODES) if not session.listen(END_SECONDS) else None
    if not outcome:
        raise Broken(
            f"heapinject has not noticed within {END_SECONDS} s that the target ended: "
            f"{session.text}"
        )
    status = trial.running.wait_end(END_SECONDS)
    if status != expected:
        raise Broken(f"the target ended with status {status}, not {expected}")
    return outcome


def target_exits(trial):
    return ends(trial, lambda running: running.tell("end"), 0)


def target_aborts(trial):
    return ends(trial, lambda running: os.kill(running.pid, signal.SIGABRT), -signal.SIGABRT)


def target_killed(trial):
    return ends(trial, lambda running: os.kill(running.pid, signal.SIGKILL), -signal.SIGKILL)


def target_execs(trial):
    """The target becomes another program, cat, which must work. A session that has only begun may
    attach to that one.
    """
    session = trial.start_and_reach(output=trial.prefix() if trial.index % 4 == 0 else "-")
    trial.running.tell("exec")
    to_new = f"{ATTACHED}{trial.running.pid} (cat)"
    if session.listen(END_SECONDS, to_new):
        if to_new not in session.text:
            raise Broken(
                f"heapinject has not noticed within {END_SECONDS} s that the target became another "
                f"program: {session.text}"
            )
        session.terminate()
    outcome = trial.judge(session, REFUSAL_CODES)
    trial.running.tell("still here")
    for _ in range(2):  # it may have answered to `state` before
        line = trial.running.lines.next(END_SECONDS)
        if line == "still here":
            trial.running.process.stdin.close()
            if trial.running.wait_end(END_SECONDS):
                raise Broken(
                    f"what the target became ended with {trial.running.process.returncode}"
                )
            return outcome
    raise Broken(f"what the target became does not work: {line!r}, {trial.running.errors()}")


def ends_by_itself(trial):
    """Of a target that comes to its end, or execs, whenever it likes."""
    session = trial.session()
    return trial.conclude(session, REFUSAL_CODES)


# ---- others at work in the same target ----


def second(trial):
    """A second injector: at most one of two is attached, and the other says why it is not."""
    first = trial.start_and_reach(BEFORE_THE_END)
    other = trial.session(loader=trial.random.choice(("map", "dlopen")))
    if trial.attach(other):
        trial.sample(other)
        other.terminate()
    outcome = trial.conclude(first, (0, 3))
    if other.wait() not in (0, 3):
        raise Broken(f"the second heapinject ends with {other.code}: {other.text}")
    if first.code and other.code and not first.gave_up() and not other.gave_up():
        raise Broken(f"neither could attach: {first.text}{other.text}")
    return outcome


def start_silently(argv):
    return subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def debugger(trial):
    """strace or gdb comes in between. Either may be refused; the target must live."""
    session = trial.start_and_reach()
    pid = str(trial.running.pid)
    if trial.index % 4:
        tracer = start_silently(["strace", "-f", "-qq", "-e", "trace=none", "-p", pid])
        time.sleep(trial.random.uniform(0.005, 0.1))
        tracer.send_signal(signal.SIGINT)
    else:
        tracer = start_silently(["gdb", "-nx", "-batch", "-p", pid, "-ex", "detach"])
    try:
        tracer.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        tracer.kill()
        tracer.wait()
        os.kill(trial.running.pid, signal.SIGCONT)  # a debugger that is killed leaves it stopped
        raise Broken(f"{tracer.args[0]} hangs") from None
    return tolerant(trial, session)


def detach_other(trial):
    """`heapinject detach` from elsewhere at a random instant, as often as it takes."""
    session = trial.start_and_reach(BEFORE_THE_END)
    while session.process.poll() is None and session.listen(0):
        code, said = trial.detach()
        if code and not re.search(
            "nothing to detach|another heapinject|ended without an answer|no session|try again",
            said,
        ):
            raise Broken(f"detach from elsewhere fails with {code}: {said}")
        if not code:
            session.is_terminated = True
            break
        session.listen(0.005)
    return trial.judge(session)


# ---- time ----


def clock(trial):
    """The machine sleeps, and the wall clock jumps.

    For the sleep, target and injector stop together for longer than the deadman waits. The clock
    jumps for the injector, each time it reads it.
    """
    if trial.index % LONG_PAUSE_EVERY:
        session = trial.session(environment={"LD_PRELOAD": clock_jump(trial.bench)})
        if trial.attach(session):
            trial.sample(session)
            trial.end(session)
        return trial.judge(session)
    session = trial.start_and_reach()
    pids = [session.pid, trial.running.pid]
    trial.random.shuffle(pids)
    send_all(pids, signal.SIGSTOP)
    time.sleep(DEAD_MAN_SECONDS + 1)
    trial.random.shuffle(pids)
    send_all(pids, signal.SIGCONT)
    return tolerant(trial, session)


def send_all(pids, number):
    """To our own children, of which one may have ended without having been waited for yet."""
    for pid in pids:
        os.kill(pid, number)


# ---- every single operation ----


def count_operations(trial):
    session = trial.session(
        heapinject=trial.bench.faults, environment={"HEAPINJECT_FAULT_COUNT": "1"}
    )
    if trial.attach(session):
        trial.end(session)
    said = re.search(r"(\d+) remote operations", session.text)
    if not said:
        raise Skip("HEAPINJECT_FAULTS_BIN is not built with FAULTS=1")
    return int(said.group(1))


def enumerate_kills(trial):
    """The injector kills itself before its n-th operation on the target."""
    session = trial.session(
        heapinject=trial.bench.faults,
        environment={"HEAPINJECT_KILL": str(trial.nth_of(trial.operations))},
    )
    if trial.attach(session):
        session.terminate()
    trial.stage = "attaching" if not session.is_attached else "attached"
    if session.wait() == -signal.SIGKILL:
        trial.clean_up(trial.bench.faults)
        return Outcome("done", trial.stage)
    if session.code == 0:
        return Outcome("early", "had no such operation")
    return trial.judge(session)


def leave_behind(trial):
    """What an injector that is killed while it samples leaves. False: it had not come so far."""
    session = trial.session()
    if not trial.attach(session):
        trial.judge(session)
        return False
    trial.sample(session)
    session.send(signal.SIGKILL)
    session.process.wait()
    return True


def count_clean_up(trial):
    if not any(leave_behind(trial) for _ in range(COUNT_TRIES)):
        raise Broken(f"cannot attach in {COUNT_TRIES} attempts, and so not count what detach does")
    _, said = trial.detach(trial.bench.faults, {"HEAPINJECT_FAULT_COUNT": "1"})
    trial.clean_up_if_left()
    said = re.search(r"(\d+) remote operations", said)
    if not said:
        raise Skip("HEAPINJECT_FAULTS_BIN is not built with FAULTS=1")
    return int(said.group(1))


def enumerate_clean_up(trial):
    """heapinject detach, which cleans up after an injector that was killed, is killed before its
    n-th operation on the target. Then another one cleans up.
    """
    if not leave_behind(trial):
        return Outcome("gave-up")
    code, said = trial.detach(
        trial.bench.faults, {"HEAPINJECT_KILL": str(trial.nth_of(trial.operations))}
    )
    if code == -signal.SIGKILL:
        trial.clean_up()
        return Outcome("done", "cleaning up")
    trial.clean_up_if_left()
    if code and "again" not in said:
        raise Broken(f"heapinject detach ends with {code}: {said}")
    return Outcome("early", "had no such operation")


EVENTS = [
    Event("cycle", cycle, "attach, sample up to 30 ms, detach"),
    Event(
        "refused", refused, "attach is refused, with the reason", share=0.01, expects=("refused",)
    ),
    Event(
        "by-itself", ends_by_itself, "the target ends or execs by itself", share=0.1,
        expects=("ends",),
    ),
    Event(
        "kill", kill, "SIGKILL of the injector at a random instant, then heapinject detach",
        share=0.05, only_storms=True,
    ),
    Event(
        "enumerate", enumerate_kills, "SIGKILL of the injector at its n-th operation, for every n",
        share=0.2, only_storms=True, count=count_operations,
    ),
    Event(
        "enumerate-detach",
        enumerate_clean_up,
        "SIGKILL of the injector, and of heapinject detach at its n-th operation, for every n",
        share=0.1,
        only_storms=True,
        count=count_clean_up,
    ),
    Event(
        "pause", pause, "SIGSTOP of the injector for up to 6 s at a random instant", share=0.012,
        only_storms=True, longest_gap_us=0,
    ),
    Event(
        "no-space", no_space, "full disk, file size limit, full device", share=0.012,
        only_storms=True,
    ),
    Event("unwritable", unwritable, "output that cannot be created", share=0.004, only_storms=True),
    Event("analyzer", analyzer, "SIGKILL of the analyzer child", share=0.012, only_storms=True),
    Event(
        "exits", target_exits, "the target exits at a random instant", share=0.02, only_storms=True,
        fresh=True,
    ),
    Event(
        "aborts", target_aborts, "the target aborts at a random instant", share=0.012,
        only_storms=True, fresh=True,
    ),
    Event(
        "execs", target_execs, "the target execs at a random instant", share=0.02, only_storms=True,
        fresh=True,
    ),
    Event(
        "killed", target_killed, "the target is SIGKILLed at a random instant", share=0.02,
        only_storms=True, fresh=True,
    ),
    Event("second", second, "a second injector at a random instant", share=0.02, only_storms=True),
    Event(
        "debugger", debugger, "strace or gdb attaches at a random instant", share=0.012,
        only_storms=True, needs=("strace", "gdb"), foreign_stops=True, longest_gap_us=0,
    ),
    Event(
        "detach-other", detach_other, "heapinject detach from elsewhere at a random instant",
        share=0.02, only_storms=True,
    ),
    Event(
        "clock", clock, "injector and target stopped for 6 s; wall clock jumps", share=0.012,
        only_storms=True, foreign_stops=True, longest_gap_us=0,
    ),
]
