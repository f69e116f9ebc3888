# PostgreSQL as in production (fsync on), with texts ordered by bytes, like SQLite. It does not run as root, so root
# starts it as another user.

POSTGRES_USER_FOR_ROOT=postgres

postgres_user() {
	if [ "$(id -u)" != 0 ]; then id -un && return; fi
	id "$POSTGRES_USER_FOR_ROOT" >/dev/null 2>&1 ||
		useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin "$POSTGRES_USER_FOR_ROOT" >&2
	echo "$POSTGRES_USER_FOR_ROOT"
}

# The command that switches to that user. It replaces the shell, so that the process id in the pid file is PostgreSQL's.
as_postgres() {
	if [ "$(id -u)" != 0 ]; then echo env; else echo setpriv --reuid "$(postgres_user)" --regid "$(id -g "$(postgres_user)")" --clear-groups; fi
}

postgres_ports() { free_port >"$DIR/postgres/port"; }

postgres_create() {
	local directory=$DIR/postgres
	od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$directory/password"
	mkdir "$directory/data"
	chown -R "$(postgres_user)" "$directory"
	chmod 711 "$directory"
	chmod 600 "$directory/password"
	# shellcheck disable=SC2046
	(cd "$directory" && $(as_postgres) "$(postgres_bin)/initdb" --pgdata=data --username=tidemark --pwfile=password \
		--auth=scram-sha-256 --encoding=UTF8 --locale=C >>log 2>&1) ||
		{ tail -n 25 "$directory/log" >&2 && fail 'initdb failed'; }
}

postgres_start() {
	local directory=$DIR/postgres
	# After a kill, the file has an id that another process may use by now.
	rm -f "$directory/data/postmaster.pid"
	# shellcheck disable=SC2046
	run_in "$directory" "$directory/pid" $(as_postgres) "$(postgres_bin)/postgres" -D "$directory/data" \
		-c listen_addresses=127.0.0.1 -c port="$(cat "$directory/port")" -c unix_socket_directories= \
		-c fsync=on -c synchronous_commit=on -c max_connections=800 -c shared_buffers=256MB \
		-c max_wal_size=2GB -c log_timezone=UTC
}

postgres_address() {
	local directory=$DIR/postgres
	echo "postgres://tidemark:$(cat "$directory/password")@127.0.0.1:$(cat "$directory/port")/postgres"
}

postgres_answers() {
	[ "$("$(postgres_bin)/psql" -X -A -t -c 'SELECT 1' "$(postgres_address)?connect_timeout=2" 2>/dev/null)" = 1 ]
}
