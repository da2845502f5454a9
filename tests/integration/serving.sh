# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Helpers for the cases of heapinject serve: . "$CASE_DIR/../serving.sh", after lib.sh

need curl python3
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
# Of this case only, as other cases run sessions at the same time.
mkdir -m 700 "$WORK/run"
export XDG_RUNTIME_DIR=$WORK/run HOME=$WORK PPROF_TMPDIR=$WORK/pprof

# serve ARGUMENT...: its pid is in $SERVE_PID, its address in $at, its output in $serve_log
serve() {
	serve_log=$WORK/server.${#pids[@]}.log
	start_server "$HEAPINJECT" serve "$@"
	SERVE_PID=$SERVER_PID
	wait_for grep -q '^Serving at ' "$serve_log" || fail "serve: $(<"$serve_log")"
	at=$(sed -n 's,^Serving at \(http://.*\)/ until.*,\1,p' "$serve_log")
	port=${at##*:}
}

# end_serve: it ends in good order, whatever was asked of it
end_serve() {
	kill -TERM "$SERVE_PID"
	wait "$SERVE_PID" || fail "serve ended with $?: $(<"$serve_log")"
}

# get STATUS PATH OPTION...: the answer is in $WORK/answer, its headers in $WORK/headers
get() {
	local wanted=$1 path=$2 status
	shift 2
	status=$(curl -s --noproxy '*' --path-as-is --max-time 60 -o "$WORK/answer" \
		-D "$WORK/headers" -w '%{http_code}' "$@" "$at$path")
	[[ $status == "$wanted" ]] || fail "$path $*: $status, not $wanted: $(<"$WORK/answer")"
}

says() {
	grep -qF -- "$1" "$WORK/answer" || fail "no $1: $(<"$WORK/answer")"
}

has_header() {
	grep -qi -- "^$1" "$WORK/headers" || fail "no header $1: $(<"$WORK/headers")"
}
