# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What profiles say of mappings: . "$CASE_DIR/../mappings.sh", after lib.sh

# of_function FILE TYPE FUNCTION: what the profile says of the mappings of a function
of_function() {
	"$HEAPINJECT" report "$1" --mmap --all-functions "--$2" --collapsed >"$WORK/stacks" \
		2>"$WORK/report.err" || fail "report $1: $(cat "$WORK/report.err")"
	awk -v name=";$3(;map|;[_GI]*sbrk)? " '
		$0 ~ name { sum += $NF } END { printf "%.0f\n", sum }' "$WORK/stacks"
}

# of_tag FILE VALUE: bytes of the mappings that have this tag
of_tag() {
	"$HEAPINJECT" report "$1" --mmap --tagfocus "$2" --collapsed 2>"$WORK/report.err" |
		awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}

# is_about WANTED GOT PERCENT WHAT
is_about() {
	awk -v a="$1" -v b="$2" -v share="$3" 'BEGIN {
		d = a > b ? a - b : b - a
		exit !(b ~ /^-?[0-9]+$/ && d <= a * share / 100)
	}' || fail "$4: $2, expected $1: $(cat "$WORK/stacks")"
	echo "$4: $2, expected $1"
}
