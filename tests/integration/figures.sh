# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# How figures of a profile are read and compared, in plain sh: for integration cases (lib.sh) and
# those of the emulated system (tests/aarch64/sessions.sh). Whoever reads this file defines fail.

# sum_stacks NAME: of collapsed stacks at standard input, the sum of all that contain the function
# NAME ('' means every stack)
sum_stacks() {
	awk -v name="$1" '
		{ value = $NF; stack = ";" $0; sub(/ [0-9]+$/, ";", stack) }
		name == "" || index(stack, ";" name ";") { sum += value }
		END { printf "%.0f\n", sum }'
}

# within PERCENT WANTED GOT WHAT
within() {
	awk -v p="$1" -v a="$2" -v b="$3" 'BEGIN {
		d = a - b; if (d < 0) d = -d
		exit !(d * 100 <= p * a)
	}' || fail "$4: $3, want $2 +- $1 %"
	echo "$4: $3, want $2 +- $1 %"
}

# check_complete PERCENT GOT: so many of the stacks are complete, at least; GOT may be empty
check_complete() {
	awk -v want="$1" -v got="$2" 'BEGIN { exit !(got != "" && got >= want) }' ||
		fail "only ${2:-?} % of the stacks are complete"
	echo "complete stacks: $2 %"
}
