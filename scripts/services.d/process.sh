# Starts and stops processes that outlive this script. The file `pid` (or `pid.<n>`) in a service's directory has the process id.
# A process is signalled only if it works in that directory, because the id may have been reused by another process.

START_SECONDS=120
STOP_SECONDS=20

say() { echo "services: $*" >&2; }
fail() { say "$*"; exit 1; }

# Start time of a process in ticks since boot. Id and start time together are unique. Empty if the process has ended.
birth_of() { sed 's/.*) //; /^Z/d' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# run_in DIRECTORY PIDFILE COMMAND…: runs the command in the background, in its own session, with its output in the file `log`.
run_in() {
	local directory=$1 pidfile=$2
	shift 2
	(
		cd "$directory"
		# The service must not inherit the lock.
		exec {LOCK}>&-
		setsid "$@" >>log 2>&1 </dev/null &
		echo $! >"$pidfile"
	)
}

# Whether the process of a pid file is running, and is the one that run_in started.
runs() {
	local pidfile=$1 pid
	[ -f "$pidfile" ] && read -r pid <"$pidfile" || return 1
	case $(readlink "/proc/$pid/cwd" 2>/dev/null) in
		"$(dirname "$pidfile")"*) return 0 ;;
		*) return 1 ;;
	esac
}

# stop_service DIRECTORY SERVICE finish|crash
stop_service() {
	local pidfile pid waited ending=''
	for pidfile in "$1/$2"/pid*; do
		runs "$pidfile" || continue
		read -r pid <"$pidfile"
		ending="$ending $pid $(children_of "$pid")"
		if [ "$3" = crash ]; then kill_whole "$pid"; else kill -"$(signal_of "$2")" "$pid" 2>/dev/null || true; fi
	done
	for pidfile in "$1/$2"/pid*; do
		waited=0
		while runs "$pidfile"; do
			sleep 0.1
			waited=$((waited + 1))
			if [ $waited -ge $((STOP_SECONDS * 10)) ]; then
				read -r pid <"$pidfile" && say "$2 does not stop; killing it" && kill_whole "$pid"
			fi
		done
		rm -f "$pidfile"
	done
	for pid in $ending; do
		while has_threads "$pid"; do sleep 0.01; done
	done
}

# Whether a thread of the process has not ended. The first thread of a killed process may end before the others, which keep
# its connections and ports open.
has_threads() { grep -qs ') [^XZ] ' "/proc/$1/task/"*/stat; }

# Kills the process with its children. A session of PostgreSQL, which is in a process group of its own, would run until its
# statement has ended, and answer its client, even while the next PostgreSQL starts on the same data.
# shellcheck disable=SC2046
kill_whole() { kill -KILL "$1" $(children_of "$1") 2>/dev/null || true; }

children_of() { { grep -lsx "PPid:[[:space:]]$1" /proc/[0-9]*/status || true; } | cut -d/ -f3 | tr '\n' ' '; }

# With INT, PostgreSQL closes all connections and writes its data to disk; with TERM it waits for its clients.
signal_of() { if [ "$1" = postgres ]; then echo INT; else echo TERM; fi; }

remove_service() {
	stop_service "$1" "$2" crash
	rm -rf "${1:?}/$2"
}

remove_directory() {
	local service
	[ -f "$1/tidemark-services" ] || { rm -f "$1.lock" && return 0; }
	for service in $SERVICES; do remove_service "$1" "$service"; done
	rm -rf "$1" "$1.lock"
}

# Removes the services of owners (TIDEMARK_SERVICES_OWNER) that have ended.
sweep() {
	local owner pid birth
	for owner in "$TMP/$DIR_PREFIX"-*/owner; do
		[ -f "$owner" ] && read -r pid birth <"$owner" || continue
		[ "$(birth_of "$pid")" = "$birth" ] && continue
		say "removing services whose owner, process $pid, has ended: $(dirname "$owner")"
		remove_directory "$(dirname "$owner")"
	done
}

# Waits until the service answers. If it does not, prints the end of its log and exits.
await_answer() {
	local service=$1 deadline=$((SECONDS + START_SECONDS)) problem=
	until part "$service" answers; do
		if ! runs_all "$DIR/$service"; then problem='has ended'
		elif [ $SECONDS -ge $deadline ]; then problem="does not answer after $START_SECONDS s"; fi
		if [ -n "$problem" ]; then
			say "$service $problem. The end of its log:"
			tail -n 25 "$DIR/$service"/log* >&2 || true
			remove_service "$DIR" "$service"
			exit 1
		fi
		sleep 0.2
	done
}

runs_all() {
	local pidfile
	for pidfile in "$1"/pid*; do runs "$pidfile" || return 1; done
}

# A port that is not in use and not assigned to another service here, below the kernel's range for clients.
free_port() {
	local port
	while :; do
		port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
		(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue
		grep -qsx "$port" "$DIR"/*/*port* || break
	done
	echo $port
}
