# Installs the software of the services, if the machine does not have it.

KAFKA_POM=$ROOT/scripts/kafka/pom.xml
if [ -d "$ROOT/node_modules" ]; then CACHE=$ROOT/node_modules/.cache; else CACHE=$TMP/$DIR_PREFIX-cache-$(id -u); fi
# The name contains a checksum of the pom, so that another version gets another directory.
KAFKA_JARS=$CACHE/kafka-$(cksum <"$KAFKA_POM" | cut -d' ' -f1)

package_of() { case $1 in redis*) echo redis ;; kafka*) echo kafka ;; *) echo "$1" ;; esac; }

# Debian's packages do not put the programs of PostgreSQL on the PATH.
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
	say 'downloading Kafka from Maven Central'
	local log
	log=$(mktemp "$TMP/$DIR_PREFIX-mvn.XXXXXX")
	rm -rf "$KAFKA_JARS"
	mkdir -p "$KAFKA_JARS"
	if ! mvn -B -ntp -q -f "$KAFKA_POM" dependency:copy-dependencies -DincludeScope=runtime \
		-DoutputDirectory="$KAFKA_JARS" >"$log" 2>&1; then
		say 'mvn could not download Kafka. The end of its log:'
		tail -n 25 "$log" >&2
		rm -f "$log"
		exit 1
	fi
	rm -f "$log"
	touch "$KAFKA_JARS/complete"
}

APT_UPDATED=

# Installs packages without starting the services that they contain.
apt_install() {
	command -v apt-get >/dev/null || fail "this machine has no $*, and no apt-get to install it"
	[ "$(id -u)" = 0 ] || fail "this machine has no $*: install it (apt-get install $*), or run this as root"
	say "installing $*"
	local log lock policy=/usr/sbin/policy-rc.d made=
	# apt-get fails while another apt-get runs: browser tests may be installing Chromium (test/support/web/chromium.ts).
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
	# Even if some package lists could not be updated, the others may have the package.
	apt-get -q -y --no-install-recommends install "$@" >>"$log" 2>&1 {LOCK}>&- {lock}>&- && failed= || failed=yes
	APT_UPDATED=yes
	exec {lock}>&-
	[ -z "$made" ] || rm -f $policy
	if [ -n "$failed" ]; then
		say "apt-get could not install $*. The end of its log:"
		tail -n 25 "$log" >&2
		rm -f "$log"
		exit 1
	fi
	rm -f "$log"
}
