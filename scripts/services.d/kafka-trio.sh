# Three Kafka brokers that are their own controllers. One of them can be killed: the others elect new leaders once it has been
# silent for 6 s.

TRIO_NODES='1 2 3'

trio_port() { cat "$DIR/kafka-trio/port.$1"; }

kafka_trio_ports() {
	local node
	for node in $TRIO_NODES; do
		free_port >"$DIR/kafka-trio/port.$node"
		free_port >"$DIR/kafka-trio/controller-port.$node"
	done
}

kafka_trio_create() {
	local node directory=$DIR/kafka-trio voters=''
	for node in $TRIO_NODES; do
		voters="$voters${voters:+,}$node@127.0.0.1:$(cat "$directory/controller-port.$node")"
	done
	for node in $TRIO_NODES; do
		cat >"$directory/server.$node.properties" <<-END
			process.roles=broker,controller
			node.id=$node
			controller.quorum.voters=$voters
			listeners=PLAINTEXT://127.0.0.1:$(trio_port "$node"),CONTROLLER://127.0.0.1:$(cat "$directory/controller-port.$node")
			advertised.listeners=PLAINTEXT://127.0.0.1:$(trio_port "$node")
			listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
			inter.broker.listener.name=PLAINTEXT
			controller.listener.names=CONTROLLER
			log.dirs=$directory/data.$node
			broker.session.timeout.ms=6000
			broker.heartbeat.interval.ms=1000
			auto.create.topics.enable=false
			offsets.topic.replication.factor=3
			offsets.topic.num.partitions=1
			group.initial.rebalance.delay.ms=0
			num.network.threads=2
			num.io.threads=2
		END
		kafka_format "$directory" "server.$node.properties" "$node" "data.$node" &
	done
	wait
}

kafka_trio_start() {
	local node directory=$DIR/kafka-trio
	for node in $TRIO_NODES; do
		runs "$directory/pid.$node" && continue
		run_in "$directory" "$directory/pid.$node" java "${KAFKA_OPTIONS[@]}" -Xmx256m kafka.Kafka "server.$node.properties"
	done
}

kafka_trio_answers() {
	local node
	for node in $TRIO_NODES; do broker_answers "$(trio_port "$node")" 3 || return 1; done
}

kafka_trio_address() {
	local node addresses=''
	for node in $TRIO_NODES; do addresses="$addresses${addresses:+,}127.0.0.1:$(trio_port "$node")"; done
	echo "$addresses"
}
