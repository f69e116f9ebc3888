# What the services run on, where the machine does not have it.

KAFKA_POM=$ROOT/scripts/kafka/pom.xml
if [ -d "$ROOT/node_modules" ]; then CACHE=$ROOT/node_modules/.cache; else CACHE=$TMP/$DIR_PREFIX-cache-$(id -u); fi
# Named after what is in it: another version of the pom is another directory.
KAFKA_JARS=$CACHE/kafka-$(cksum <"$KAFKA_POM" | cut -d' ' -f1)

package_of() { case $1 in redis*) echo redis ;; kafka*) echo kafka ;; *) echo "$1" ;; esac; }

# Debian's packages of PostgreSQL keep its programs out of the PATH.
postgres_bin() {
	local directory
	for directory in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) $(dirname "$(command -v initdb || echo /x)"); do
		if [ -x "$directory/initdb" ] && [ -x "$directory/postgres" ] && [ -x "$directory/psql" ]; then
			echo "$directory"
			return
		fi
	done
	return 1
}

install_redis() {
	if ! command -v redis-server >/dev/null || ! command -v redis-cli >/dev/null; then apt_install redis-server; fi
}

install_postgres() { postgres_bin >/dev/null || apt_install postgresql; }

install_kafka() {
	[ -f "$KAFKA_JARS/complete" ] && command -v java >/dev/null && return
	command -v java >/dev/null || apt_install openjdk-17-jre-headless
	[ -f "$KAFKA_JARS/complete" ] && return
	command -v mvn >/dev/null || apt_install maven
	say 'getting Kafka from Maven Central'
	local log
	log=$(mktemp "$TMP/$DIR_PREFIX-mvn.XXXXXX")
	rm -rf "$KAFKA_JARS"
	mkdir -p "$KAFKA_JARS"
	if ! mvn -B -ntp -q -f "$KAFKA_POM" dependency:copy-dependencies -DincludeScope=runtime \
		-DoutputDirectory="$KAFKA_JARS" >"$log" 2>&1; then
		say 'mvn could not get it. The end of its log:'
		tail -n 25 "$log" >&2
		rm -f "$log"
		exit 1
	fi
	rm -f "$log"
	touch "$KAFKA_JARS/complete"
}

APT_UPDATED=

# Without starting the services that the packages bring.
apt_install() {
	command -v apt-get >/dev/null || fail "this machine has no $*, and no apt-get to install it"
	[ "$(id -u)" = 0 ] || fail "this machine has no $*: install it (apt-get install $*), or run this as root"
	say "installing $*"
	local log lock policy=/usr/sbin/policy-rc.d made=
	# apt-get gives up where another one runs: tests in a browser may install theirs (test/support/web/chromium.ts).
	exec {lock}>"$TMP/tidemark-apt.lock"
	flock "$lock"
	log=$(mktemp "$TMP/$DIR_PREFIX-apt.XXXXXX")
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
		made=yes
	fi
	export DEBIAN_FRONTEND=noninteractive
	local failed=
	if [ -z "$APT_UPDATED" ]; then apt-get -q update >>"$log" 2>&1 {lock}>&- || failed=yes; fi
	# Package lists that are partly out of reach may still have what is needed.
	apt-get -q -y --no-install-recommends install "$@" >>"$log" 2>&1 {LOCK}>&- {lock}>&- && failed= || failed=yes
	APT_UPDATED=yes
	exec {lock}>&-
	[ -z "$made" ] || rm -f $policy
	if [ -n "$failed" ]; then
		say 'apt-get could not install it. The end of its log:'
		tail -n 25 "$log" >&2
		rm -f "$log"
		exit 1
	fi
	rm -f "$log"
}
