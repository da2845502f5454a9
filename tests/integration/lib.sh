# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Helpers for integration cases: . "$CASE_DIR/../lib.sh"
#
# A case starts every process with start_server or start_session. These keep the pids, and the EXIT
# trap stops just these processes. Nothing is ever stopped by name. Observations of the target
# (snapshot, got_words) read /proc on their own and share no code with heapinject.
set -u

lib_dir=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/integration/figures.sh
. "$lib_dir/figures.sh"
# Seconds to wait for what must come: a busy machine leaves a whole session without a CPU for
# several.
patience=60
attach_tries=5
pids=()
nap_fifo=$WORK/nap
mkfifo "$nap_fifo"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# nap SECONDS: sleeps without starting a program; one that is started again and again to sleep takes
# a good part of a CPU
nap() {
	read -rt "$1" <>"$nap_fifo"
	return 0
}

# need PROGRAM...: skip the case if one is not installed
need() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# need_libraries: skip the case if the program under test is static, and loads no library
need_libraries() {
	readelf -lW "$HEAPINJECT" | grep -q INTERP || skip 'the static program loads no library'
}

# is_executed PID: it is no longer a copy of this shell that is about to execute something
is_executed() {
	[[ $(tr '\0' ' ' <"/proc/$1/cmdline") != "$(tr '\0' ' ' <"/proc/$$/cmdline")" ]]
}

# start_server COMMAND...: runs it in the background with its output in $WORK/server.N.log; its pid
# is in $SERVER_PID
start_server() {
	"$@" >"$WORK/server.${#pids[@]}.log" 2>&1 </dev/null &
	SERVER_PID=$!
	pids+=("$SERVER_PID")
	[[ $(type -t "$1") != file ]] || wait_for is_executed "$SERVER_PID" ||
		fail "$1 was not executed"
}

# stop PID: end one of our processes, gently at first
stop() {
	kill -TERM "$1" 2>/dev/null
	patience=30 wait_for has_ended "$1" || kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

# is_running PID: alive, and not just a zombie
is_running() {
	local stat
	{ stat=$(<"/proc/$1/stat"); } 2>/dev/null && [[ -n $stat && ${stat##*) } != Z* ]]
}

has_ended() {
	! is_running "$1"
}

# is_ours PID: of this case, and not another that got the number of one that ended; where cases
# start thousands of threads a second, numbers come again within seconds
is_ours() {
	local fields
	{ fields=$(<"/proc/$1/stat"); } 2>/dev/null || return
	read -ra fields <<<"${fields##*) }"
	[[ ${fields[1]} == "$BASHPID" ]] || grep -qzxF "WORK=$WORK" "/proc/$1/environ" 2>/dev/null
}

stop_all() {
	local i
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		is_ours "${pids[i]}" && is_running "${pids[i]}" && stop "${pids[i]}"
	done
	pids=()
}
trap stop_all EXIT

# free_port: prints an odd port on which nobody listens now, and which no case in another lane gets
# meanwhile
free_port() {
	local port
	while :; do
		port=$((20001 + 2 * (RANDOM % 375 * 16 + ${LANE:-0} % 16)))
		grep -qi ":$(printf '%04X' "$port") " /proc/net/tcp /proc/net/tcp6 2>/dev/null ||
			break
	done
	echo "$port"
}

# wait_for COMMAND...: until COMMAND succeeds; most do soon, so it is asked most often at first
wait_for() {
	local end=$((SECONDS + patience)) asked=0 late
	while late=$((SECONDS >= end)) && ! "$@" >/dev/null 2>&1; do
		((late)) && return 1
		nap "0.0$((asked++ < 10 ? 2 : 5))"
	done
	return 0
}

# cpu_ticks PID: processor time that it has had, in hundredths of a second
cpu_ticks() {
	local fields
	fields=$(cat "/proc/$1/stat" 2>/dev/null) || return
	read -ra fields <<<"${fields##*) }"
	echo $((fields[11] + fields[12]))
}

has_had_ticks() {
	! is_running "$1" || (($(cpu_ticks "$1") >= $2))
}

# let_work PID TICKS: waits until it has had so much more processor time; after a sleep it may have
# had none
let_work() {
	wait_for has_had_ticks "$1" $(($(cpu_ticks "$1") + $2)) || fail "process $1 does not work"
}

port_answers() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

wait_port() {
	wait_for port_answers "$1" || fail "nothing listens on port $1"
}

# check_same BEFORE AFTER WHAT: two files must be equal
check_same() {
	diff -u "$1" "$2" || fail "$3 changed"
}

# snapshot PID FILE: writes down what heapinject must leave as it was. It leaves out what a program
# does for itself: heap, plain anonymous memory, the stack's size, socket numbers. It keeps
# anonymous memory that is executable or wiped on fork, because a forgotten gate or state would look
# like that.
snapshot() {
	local pid=$1 file=$2
	{
		echo '# maps'
		awk '
			$6 == "[heap]" || $6 ~ /^\[anon/ { next }
			$6 == "[stack]" { print $2, $6; next }
			$6 != "" || $2 ~ /x/' "/proc/$pid/maps"
		echo '# mappings wiped or absent after fork:' \
			"$(grep -cE '^VmFlags:.* (wf|dc)( |$)' "/proc/$pid/smaps")"
		echo '# descriptors'
		find "/proc/$pid/fd" -type l -printf '%l\n' 2>/dev/null |
			sed 's/^socket:.*/socket/' | sort | uniq -c
		echo "# threads: $(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)"
		grep -E '^(SigPnd|SigBlk|SigIgn|SigCgt|TracerPid):' "/proc/$pid/status"
	} >"$file"
}

# got_words PID FILE: every GOT slot of the malloc family with its live value
got_words() {
	python3 "$lib_dir/got_words.py" "$1" >"$2" || fail "cannot read the GOT of $1"
}

# check_got BEFORE AFTER: both must be equal, but for lazy slots that the program has resolved by
# itself meanwhile
check_got() {
	python3 "$lib_dir/got_words.py" --compare "$1" "$2" || fail 'GOT words changed'
}

# is_attached PID: heapinject's arena is mapped there
is_attached() {
	[[ $(<"/proc/$1/maps") == *memfd:heapinject* ]]
}

# is_hooked PID OBJECT: the slots of that library lead to heapinject, or need not, as functions are
# hooked at their entry
is_hooked() {
	grep -q 'attached to .*: [1-9][0-9]* functions at their entry, 0 GOT slots' \
		"$WORK/attach.out" ||
		python3 "$lib_dir/got_words.py" "$1" | grep -q "$2.*heapinject"
}

# run_attach PID OPTION...: attaches in the foreground and returns the exit status; its output is in
# $WORK/attach.out
run_attach() {
	"$HEAPINJECT" attach "$@" >"$WORK/attach.out" 2>&1
}

# wait_attach: wait for the attach started last; returns its exit status
wait_attach() {
	wait "$ATTACH_PID"
}

# lose_injector [PID]: sends SIGKILL to the injector of the session, as the kernel would when it is
# out of memory
lose_injector() {
	kill -KILL "${1:-$ATTACH_PID}" || fail 'there was no injector to kill'
	wait "${1:-$ATTACH_PID}" 2>/dev/null
	return 0
}

# start_session PID OPTION...: attaches in the background and returns when allocations are sampled;
# its pid is in $ATTACH_PID, the files are $WORK/out.PID.*
# The dlopen loader may find no thread at a safe point. Then start_session tries again, as the
# loader advises.
start_session() {
	local tries status
	local untouched='no thread came to a safe point .* the process is untouched; try again'
	for ((tries = 1; ; tries++)); do
		: >"$WORK/attach.out"
		"$HEAPINJECT" attach "$@" -v -o "$WORK/out" >"$WORK/attach.out" 2>&1 &
		ATTACH_PID=$!
		pids+=("$ATTACH_PID")
		wait_for session_is_settled || fail "attach to $1 hangs: $(cat "$WORK/attach.out")"
		grep -q 'attached to' "$WORK/attach.out" && return
		wait_attach
		status=$?
		if ((tries >= attach_tries)) || ! grep -q "$untouched" "$WORK/attach.out"; then
			fail "cannot attach to $1, status $status, in $tries attempts:" \
				"$(cat "$WORK/attach.out")"
		fi
	done
}

session_is_settled() {
	[[ $(<"$WORK/attach.out") == *'attached to'* ]] || ! is_running "$ATTACH_PID"
}

# end_session PID: runs heapinject detach; the session must have gone well and left nothing behind.
# Its heap profile is $HEAP.
end_session() {
	local status
	"$HEAPINJECT" detach "$1" >"$WORK/detach.out" 2>&1 ||
		fail "detach of $1: $(cat "$WORK/detach.out" "$WORK/attach.out")"
	wait_attach
	status=$?
	[[ $status -eq 0 ]] || fail "attach to $1 ended with $status: $(cat "$WORK/attach.out")"
	HEAP=$(find "$WORK" -maxdepth 1 -name "out.$1.*.heap" | sort | tail -n 1)
	[[ -s $HEAP ]] || fail "no heap profile of $1"
	is_left_alone "$1"
}

# is_left_alone PID: it runs, and nothing of ours is mapped or open
is_left_alone() {
	is_running "$1" || fail "process $1 died"
	! grep 'heapinject' "/proc/$1/maps" || fail "mappings left in $1"
	! find "/proc/$1/fd" -type l -printf '%l\n' 2>/dev/null | grep 'heapinject' ||
		fail "descriptors left in $1"
	grep -q '^TracerPid:[[:space:]]*0$' "/proc/$1/status" || fail "$1 is still traced"
}

# compile_without_libc FILE: a program that sleeps, and has no allocator that anybody knows
compile_without_libc() {
	cat >"$1.c" <<-'END'
		void _start(void)
		{
			long second[2] = {1, 0}, result;

			for (;;) /* nanosleep */
				__asm__ volatile("syscall"
						 : "=a"(result)
						 : "a"(35), "D"(second), "S"(0)
						 : "rcx", "r11", "memory");
		}
	END
	gcc -nostdlib -static -fno-stack-protector -o "$1" "$1.c" ||
		fail 'it does not compile without a library'
}

# report OPTION...: of the session that ended last
report() {
	"$HEAPINJECT" report "$HEAP" "$@"
}

# sum_of NAME OPTION...: prints the estimated value of all stacks that contain the function NAME (''
# means every stack)
sum_of() {
	local name=$1
	shift
	report --collapsed "$@" | sum_stacks "$name"
}

# complete_stacks PERCENT: at least so many of the samples have stacks that end properly
complete_stacks() {
	local percent
	percent=$(report --text | sed -n 's/.* \([0-9.]*\)% complete stacks.*/\1/p')
	check_complete "$1" "$percent"
}

# start_target ARGUMENT...: runs $TARGET in the background, which reads commands and answers each
# with a line (target.h); its pid is in $SERVER_PID
start_target() {
	TARGET_OUT=$WORK/target.${#pids[@]}.out
	mkfifo "$TARGET_OUT.in"
	exec 9<>"$TARGET_OUT.in" # read and write: neither side's open waits for the other
	"$TARGET" "$@" <"$TARGET_OUT.in" >"$TARGET_OUT" 2>&1 9>&- &
	SERVER_PID=$!
	pids+=("$SERVER_PID")
	wait_for target_is_ready || fail 'the target does not begin'
}

# hear: how many lines the target has said is in $SAID, the last of them in $ANSWER
hear() {
	local text lines
	IFS= read -rd '' text <"$TARGET_OUT"
	lines=${text//[!$'\n']/} text=${text%$'\n'*}
	SAID=${#lines} ANSWER=${text##*$'\n'}
}

target_is_ready() {
	[[ $'\n'$(<"$TARGET_OUT") == *$'\n'ready* ]]
}

# target_has_said N: more than N lines
target_has_said() {
	hear
	((SAID > $1))
}

# ask COMMAND: of the target started last; its answer is in $ANSWER
ask() {
	hear
	echo "$1" >&9
	wait_for target_has_said "$SAID" || fail "the target does not answer to: $1"
	echo "$1: $ANSWER"
}
