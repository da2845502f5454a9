# SPDX-License-Identifier: MIT
"""Job control: a program under `heapinject run` in the foreground of a terminal is stopped by
Ctrl-Z and goes on, and its session with it; Ctrl-C comes to it once. Where the session has a parent
(--follow-fork), it is not lost that the session is stopped again before that one is continued.
Arguments: a command line whose program says "ready", counts SIGINT, and prints the number when it
reads a line."""
import os
import pty
import re
import select
import signal
import sys
import time

PATIENCE_S = 60
STOPPED_S = 7  # more than the payload waits for a sign of life
HAS_FAMILY = '--follow-fork' in sys.argv


def fail(text):
    sys.exit(f'{text}; the terminal shows:\n{shown.decode(errors="replace")}')


def read_until(pattern, times=1):
    global shown
    end = time.monotonic() + PATIENCE_S
    while len(re.findall(pattern, shown)) < times:
        if time.monotonic() > end:
            fail(f'not {times} times {pattern}')
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                fail(f'ended without {pattern}')


def state_of(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as stat:
        return stat.read().rsplit(') ', 1)[1][0]


def wait_states(pids, is_wanted, what):
    end = time.monotonic() + PATIENCE_S
    while not all(is_wanted(state_of(pid)) for pid in pids):
        if time.monotonic() > end:
            fail(f'not {what}: {[state_of(pid) for pid in pids]}')
        time.sleep(0.02)


def child_of(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='utf-8') as children:
        return int(children.read().split()[0])


def continue_family(family):
    """The program and its session first, which are stopped again before it is its turn."""
    session = child_of(family)
    program = child_of(session)
    for pid in program, session:
        os.kill(pid, signal.SIGCONT)
    os.kill(session, signal.SIGTSTP)
    wait_states([program, session], lambda state: state == 'T', 'stopped again')
    os.kill(family, signal.SIGCONT)


# A shell's part: a session leader that owns the terminal, and a job in a process group of its own.
leader, terminal = pty.fork()
shown = b''
if leader == 0:
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp(sys.argv[1], sys.argv[1:])
    stops = 0
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status))
        print('job stopped', flush=True)
        stops += 1
        if HAS_FAMILY and stops == 3:
            continue_family(job)
            continue
        time.sleep(STOPPED_S)
        # The program first, as a shell may do: it allocates at once, and finds no sign of life.
        os.kill(child_of(child_of(job)) if HAS_FAMILY else child_of(job), signal.SIGCONT)
        time.sleep(0.3)
        os.killpg(job, signal.SIGCONT)
        print('job continued', flush=True)
read_until(rb'ready (\d+)')
program = int(re.search(rb'ready (\d+)', shown)[1])
with open(f'/proc/{program}/stat', encoding='utf-8') as stat:
    injector = int(stat.read().rsplit(') ', 1)[1].split()[1])
os.write(terminal, b'\x1a')
read_until(rb'job stopped')
wait_states([program, injector], lambda state: state == 'T', 'stopped')
read_until(rb'job continued')
wait_states([program, injector], lambda state: state != 'T', 'continued')
os.write(terminal, b'\x03')
read_until(rb'interrupted')
os.kill(injector, signal.SIGTSTP)
read_until(rb'job stopped', 2)
wait_states([program, injector], lambda state: state == 'T', 'stopped')
wait_states([program, injector], lambda state: state != 'T', 'continued')
if HAS_FAMILY:
    read_until(rb'job continued', 2)
    os.kill(injector, signal.SIGTSTP)
    read_until(rb'job stopped', 4)
    read_until(rb'job continued', 3)
    wait_states([program, injector], lambda state: state != 'T', 'continued')
time.sleep(0.5)  # for a second SIGINT, if there is one
os.write(terminal, b'end\n')
read_until(rb'1 interrupts')
read_until(rb'dropped \d|Detach receipts')
try:
    while True:
        shown += os.read(terminal, 65536)
except OSError:  # nobody has the terminal any more
    pass
_, status = os.waitpid(leader, 0)
sys.stdout.write(shown.decode(errors='replace'))
sys.exit(os.waitstatus_to_exitcode(status))
