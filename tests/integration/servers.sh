# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Real servers and load for them, for several cases: . "$CASE_DIR/../lib.sh"
# . "$CASE_DIR/../servers.sh"
#
# All servers listen on loopback, on a port of their own, and keep their files in $WORK. start_X
# leaves the pid to profile in $SERVER_PID and the port in $PORT.

# start_redis OPTION...
start_redis() {
	need redis-server redis-cli redis-benchmark
	PORT=$(free_port)
	start_server redis-server \
		--bind 127.0.0.1 --port "$PORT" --save '' --appendonly no --dir "$WORK" "$@"
	wait_port "$PORT"
}

# has_no_clients: the server on $PORT has closed all connections
has_no_clients() {
	! grep -qE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$PORT") [0-9A-F]+:[0-9A-F]+ 0[18] " \
		/proc/net/tcp
}

redis() {
	redis-cli -p "$PORT" "$@" | tr -d '\r'
}

# redis_info FIELD
redis_info() {
	redis info all | sed -n "s/^$1://p"
}

# load_redis: requests of several kinds until stop_redis_load
load_redis() {
	redis-benchmark -p "$PORT" -c 8 \
		-d 300 -r 20000 -n 100000000 -q -t set,get,lpush,lpop,hset,sadd >/dev/null 2>&1 &
	LOAD_PID=$!
	pids+=("$LOAD_PID")
}

stop_redis_load() {
	is_running "$LOAD_PID" || fail 'redis-benchmark ended'
	stop "$LOAD_PID"
}

# start_nginx: one worker, which is the process to profile; /page holds 20,000 known bytes.
# NGINX_MODULE: a module to load; NGINX_LOCATION: what the server has besides
start_nginx() {
	need nginx python3
	local master
	PORT=$(free_port)
	mkdir -p "$WORK/nginx/html"
	for ((i = 0; i < 2000; i++)); do printf 0123456789; done >"$WORK/nginx/html/page"
	cat >"$WORK/nginx/conf" <<-EOF
		${NGINX_MODULE:+load_module $NGINX_MODULE;}
		daemon off;
		user root;
		worker_processes 1;
		pid $WORK/nginx/pid;
		error_log $WORK/nginx/error.log;
		events { worker_connections 256; }
		http {
			access_log $WORK/nginx/access.log;
			keepalive_requests 100000;
			client_body_temp_path $WORK/nginx/body;
			proxy_temp_path $WORK/nginx/proxy;
			fastcgi_temp_path $WORK/nginx/fastcgi;
			uwsgi_temp_path $WORK/nginx/uwsgi;
			scgi_temp_path $WORK/nginx/scgi;
			server {
				listen 127.0.0.1:$PORT;
				root $WORK/nginx/html;
				${NGINX_LOCATION:-}
			}
		}
	EOF
	start_server nginx -c "$WORK/nginx/conf" -e "$WORK/nginx/error.log"
	wait_port "$PORT"
	master=$SERVER_PID
	wait_for grep -q . "/proc/$master/task/$master/children" # it listens before it forks
	SERVER_PID=$(cat "/proc/$master/task/$master/children")
	SERVER_PID=${SERVER_PID%% *}
	[[ -n $SERVER_PID ]] || fail 'nginx has no worker'
}

start_memcached() {
	need memcached python3
	PORT=$(free_port)
	start_server memcached -l 127.0.0.1 -p "$PORT" -U 0 -u root -m 256 -t 4
	wait_port "$PORT"
}

# start_load PROTOCOL: requests whose answers are checked, until stop_load
start_load() {
	"$CASE_DIR/../load" "$1" "$PORT" >"$WORK/load.log" 2>&1 &
	LOAD_PID=$!
	pids+=("$LOAD_PID")
	wait_for grep -qx begun "$WORK/load.log" || fail "no load: $(cat "$WORK/load.log")"
}

# stop_load: fails if an answer was wrong
stop_load() {
	local status
	kill -TERM "$LOAD_PID"
	wait "$LOAD_PID"
	status=$?
	echo "load: $(sed 1d "$WORK/load.log")"
	return "$status"
}

# cycle PID LOADER [COMMAND...]: attaches and detaches $CYCLES times (3); COMMAND must succeed after
# each; in the end GOT bytes must be as before
cycle() {
	local pid=$1 loader=$2 count=${CYCLES:-3} i
	shift 2
	got_words "$pid" "$WORK/got.before"
	for ((i = 1; i <= count; i++)); do
		start_session "$pid" --loader "$loader"
		sleep "0.0$((RANDOM % 10))"
		end_session "$pid"
		"$@" || fail "cycle $i, loader $loader: the target does not answer well"
	done
	got_words "$pid" "$WORK/got.after"
	check_got "$WORK/got.before" "$WORK/got.after"
	echo "$loader: $count cycles"
}
