# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # read by ./guest, with its variables and functions
#
# For cases whose programs speak as those of tests/integration/target.h: they say "ready", and
# answer each line with one.

# shellcheck source=tests/integration/figures.sh
. ./figures.sh

# begin COMMAND...: its pid is in $pid
begin() {
	rm -f /tmp/in /tmp/out # what another program has said is not its answer
	mkfifo /tmp/in
	exec 9<>/tmp/in # read and write: the open waits for nobody
	"$@" </tmp/in >/tmp/out 2>&1 9>&- &
	pid=$!
	wait_for 20 grep -qE 'ready|^\{' /tmp/out || fail "$* does not begin: $(cat /tmp/out)"
}

# end: the end of its input is that of the program
end() {
	kill -0 "$pid" 2>/dev/null || fail "the program died: $(tail -3 /tmp/out)"
	kill -TERM "$pid"
	wait "$pid" 2>/dev/null
	exec 9>&-
}

# has_said LINES: it has said more
has_said() {
	[ "$(wc -l </tmp/out)" -gt "$1" ]
}

# ask COMMAND: its answer is in $answer
ask() {
	said=$(wc -l </tmp/out)
	echo "$1" >&9
	wait_for 60 has_said "$said" || fail "no answer to: $1"
	answer=$(tail -n 1 /tmp/out)
}

session_is_settled() {
	! kill -0 "$session" 2>/dev/null || ./heapinject status "$pid"
}

# start_session OPTION...: of $pid
start_session() {
	rm -f /tmp/profile.*
	wc -l <"/proc/$pid/maps" >/tmp/maps.before
	./heapinject attach "$pid" --duration 1h --output /tmp/profile "$@" >/tmp/attach 2>&1 &
	session=$!
	wait_for 30 session_is_settled
	./heapinject status "$pid" >/dev/null 2>&1 || {
		fail "the session did not begin:"
		cat /tmp/attach
		return 1
	}
}

# end_session: its profile is in $profile; it must have gone well and left nothing
end_session() {
	run detach ./heapinject detach "$pid"
	wait "$session" || {
		fail "attach ended with $?:"
		cat /tmp/attach
	}
	profile=$(echo /tmp/profile."$pid".*.heap | sed 's/.* //')
	! grep heapinject "/proc/$pid/maps" || fail "mappings are left in $pid"
	for descriptor in "/proc/$pid/fd"/*; do
		readlink "$descriptor"
	done >/tmp/descriptors
	! grep heapinject /tmp/descriptors || fail "descriptors are left in $pid"
	has "/proc/$pid/status" '^TracerPid:[[:space:]]*0$'
}

# value_of NAME OPTION...: the sum over all stacks with that function, '' of all
value_of() {
	function=$1
	shift
	./heapinject report "$profile" --collapsed "$@" | sum_stacks "$function"
}

# check_sites: what the program answered last, NAME:LIVE-BYTES:LIVE-BLOCKS:BYTES:BLOCKS of each
# site, is what the profile of an exact session says
check_sites() {
	field=1
	for index in inuse-space inuse-objects alloc-space alloc-objects; do
		field=$((field + 1))
		./heapinject report "$profile" --collapsed "--$index" >/tmp/collapsed 2>/tmp/err
		awk -v truth="${answer#truth }" -v field="$field" -v index_name="$index" '
			match($0, /;site_[a-z0-9_]*/) {
				sum[substr($0, RSTART + 1, RLENGTH - 1)] += $NF
			}
			END {
				count = split(truth, site, " ")
				for (i = 1; i <= count; i++) {
					split(site[i], figure, ":")
					if (sum[figure[1]] + 0 == figure[field])
						continue
					print figure[1], index_name ":", sum[figure[1]] + 0, \
						"and not", figure[field]
					wrong = 1
				}
				exit wrong || !count
			}' /tmp/collapsed >/tmp/wrong || {
			fail "$(cat /tmp/wrong)"
			cat /tmp/err
		}
	done
}

# check_sampled INTERVAL: each site within six standard deviations, of samples that are drawn with
# that many bytes between them on average, and all of them together within four
check_sampled() {
	./heapinject report "$profile" --collapsed --alloc-space >/tmp/collapsed
	awk -v truth="${answer#truth }" -v interval="$1" '
		match($0, /;site_[a-z0-9_]*/) {
			sum[substr($0, RSTART + 1, RLENGTH - 1)] += $NF
		}
		# e to the power of -x; this awk has no exp()
		function exponential(x,   y, i) {
			y = 1 + x / 1048576
			for (i = 0; i < 20; i++)
				y *= y
			return 1 / y
		}
		function check(name, got, wanted, variance, deviations) {
			error = got - wanted
			deviations *= deviations
			if (error * error <= deviations * variance + 1)
				return
			print name ":", got, "and not", wanted, "with variance", variance
			wrong = 1
		}
		END {
			count = split(truth, site, " ")
			for (i = 1; i <= count; i++) {
				split(site[i], figure, ":")
				bytes = figure[4]
				size = bytes / figure[5]
				chance = 1 - exponential(size / interval)
				# Sizes vary at two sites, which adds to it.
				variance = 1.3 * bytes * size * (1 - chance) / chance
				check(figure[1], sum[figure[1]] + 0, bytes, variance, 6)
				all += sum[figure[1]]
				all_bytes += bytes
				all_variance += variance
			}
			check("all", all, all_bytes, all_variance, 4)
			exit wrong || !count
		}' /tmp/collapsed >/tmp/wrong || fail "$(cat /tmp/wrong)"
}

# complete_stacks PERCENT: so many at least
complete_stacks() {
	share=$(sed -n 's/.*(\([0-9.]*\)% complete stacks.*/\1/p' /tmp/attach)
	check_complete "$1" "$share"
}

# check_allocating COMMAND...: a session of allocating.c is exact; its profile is looked at by
# check_chains and complete_stacks
check_allocating() {
	begin "$@"
	start_session --sample 1 --max-overhead off && {
		ask go
		end_session
		check_sites
		check_chains
	}
	end
}

# check_chains: each site of allocating.c is below main, and below a thread, by all its calls
check_chains() {
	chain=$(seq 20 -1 1 | sed 's/^/level_/' | tr '\n' ';')
	for beginning in '(^|;)main;' '(^|;)in_thread;'; do
		sites=$(sed -nE "s/.*$beginning${chain}(site_[a-z_]*).*/\\2/p" /tmp/collapsed)
		[ "$(echo "$sites" | sort -u | wc -l)" = 7 ] || {
			fail "sites below $beginning:"
			cut -c1-400 /tmp/collapsed
		}
	done
}
