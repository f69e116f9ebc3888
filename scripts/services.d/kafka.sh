# One Kafka broker that is its own controller (KRaft), with a small heap.

# Tests start many short-lived brokers, which need a fast start and a small heap. Benchmarks run the broker as operators do.
KAFKA_OPTIONS=(-Xms128m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1)
[ -z "${TIDEMARK_SERVICES_LONG_RUN:-}" ] || KAFKA_OPTIONS=(-Xms512m -Xmx1g)
# No performance data: to write it, a starting Java process changes into another directory for a moment, and `runs` would not
# recognise the process.
KAFKA_OPTIONS+=(-XX:-UsePerfData -Dlog4j2.configurationFile="$ROOT/scripts/kafka/log4j2.properties" -cp "$KAFKA_JARS/*")

kafka_run() { java "${KAFKA_OPTIONS[@]}" "$@"; }

kafka_ports() {
	local name
	for name in port controller-port sasl-port; do free_port >"$DIR/kafka/$name"; done
}

kafka_create() {
	local directory=$DIR/kafka
	head -c 12 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$directory/sasl-password"
	cat >"$directory/server.properties" <<-END
		process.roles=broker,controller
		node.id=1
		controller.quorum.voters=1@127.0.0.1:$(cat "$directory/controller-port")
		listeners=PLAINTEXT://127.0.0.1:$(cat "$directory/port"),CONTROLLER://127.0.0.1:$(cat "$directory/controller-port"),SASL://127.0.0.1:$(cat "$directory/sasl-port")
		advertised.listeners=PLAINTEXT://127.0.0.1:$(cat "$directory/port"),SASL://127.0.0.1:$(cat "$directory/sasl-port")
		listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT
		inter.broker.listener.name=PLAINTEXT
		listener.name.sasl.sasl.enabled.mechanisms=PLAIN
		listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_tidemark="$(cat "$directory/sasl-password")";
		controller.listener.names=CONTROLLER
		log.dirs=$directory/data
		num.partitions=1
		auto.create.topics.enable=false
		offsets.topic.replication.factor=1
		offsets.topic.num.partitions=4
		transaction.state.log.replication.factor=1
		transaction.state.log.min.isr=1
		share.coordinator.state.topic.replication.factor=1
		share.coordinator.state.topic.min.isr=1
		group.initial.rebalance.delay.ms=0
		num.network.threads=2
		num.io.threads=4
	END
	kafka_format "$directory" server.properties 1 data
}

# A cluster id is any 16 bytes. All clusters here use the same id, so that they can share a formatted directory.
KAFKA_CLUSTER_ID=dGlkZW1hcmstdGVzdHMtMQ

# kafka_format DIRECTORY PROPERTIES NODE DATA: formatting starts a Java process, so the result is cached and copied. It depends only
# on the node's number.
kafka_format() {
	local formatted=$KAFKA_JARS/formatted.$3 made
	if [ -d "$formatted" ]; then
		cp -R "$formatted" "$1/$4"
		return
	fi
	(cd "$1" && kafka_run kafka.tools.StorageTool format --ignore-formatted --cluster-id "$KAFKA_CLUSTER_ID" --config "$2" \
		>>log 2>&1) || { tail -n 25 "$1/log" >&2 && fail 'Kafka could not format its directory'; }
	made=$(mktemp -d "$formatted.XXXXXX")
	cp -R "$1/$4/." "$made"
	# Another call may have cached it in the meantime.
	mv -T "$made" "$formatted" 2>/dev/null || rm -rf "$made"
}

kafka_start() {
	run_in "$DIR/kafka" "$DIR/kafka/pid" java "${KAFKA_OPTIONS[@]}" kafka.Kafka server.properties
}

# The broker's listener with SASL: user:password@host:port.
kafka_more_env() {
	echo "TIDEMARK_TEST_KAFKA_SASL=tidemark:$(cat "$DIR/kafka/sasl-password")@127.0.0.1:$(cat "$DIR/kafka/sasl-port")"
}

kafka_address() { echo "127.0.0.1:$(cat "$DIR/kafka/port")"; }

# Requests metadata of no topic (request 3, version 1) and looks for a broker in the answer: an open port alone does not
# mean that the broker accepts messages.
kafka_answers() { broker_answers "$(cat "$DIR/kafka/port")" 1; }

# broker_answers PORT BROKERS: whether the broker answers and knows this many brokers.
broker_answers() {
	local answer
	answer=$(
		exec 2>/dev/null
		exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
		printf '\0\0\0\016\0\003\0\001\0\0\0\001\377\377\0\0\0\0' >&3
		timeout 2 head -c 12 <&3 | od -An -v -tu1 | tr -s ' \n' ' '
	) || return 1
	# The answer has a length, the number of the request and the number of brokers.
	case $answer in *" 0 0 0 1 0 0 0 $2"*) return 0 ;; *) return 1 ;; esac
}
