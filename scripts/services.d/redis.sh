# A single Redis, and three that form a cluster: nothing on disk, nothing but loopback.

REDIS_OPTIONS=(--bind 127.0.0.1 --save '' --appendonly no --daemonize no --set-proc-title no --loglevel notice)
CLUSTER_NODES='1 2 3'

redis_ping() { [ "$(redis-cli -h 127.0.0.1 -p "$1" "${@:2}" ping 2>/dev/null)" = PONG ]; }

redis_ports() { free_port >"$DIR/redis/port"; }
redis_create() { :; }
redis_port() { cat "$DIR/redis/port"; }
redis_start() { run_in "$DIR/redis" "$DIR/redis/pid" redis-server --port "$(redis_port)" "${REDIS_OPTIONS[@]}"; }
redis_answers() { redis_ping "$(redis_port)"; }
redis_address() { echo "redis://127.0.0.1:$(redis_port)"; }

cluster_port() { cat "$DIR/redis-cluster/port.$1"; }

redis_cluster_create() { :; }

redis_cluster_ports() {
	local node
	for node in $CLUSTER_NODES; do
		free_port >"$DIR/redis-cluster/port.$node"
		free_port >"$DIR/redis-cluster/bus-port.$node"
	done
}

redis_cluster_start() {
	local node directory=$DIR/redis-cluster
	for node in $CLUSTER_NODES; do
		runs "$directory/pid.$node" && continue
		run_in "$directory" "$directory/pid.$node" redis-server --port "$(cluster_port "$node")" "${REDIS_OPTIONS[@]}" \
			--cluster-enabled yes --cluster-config-file "nodes.$node.conf" \
			--cluster-port "$(cat "$directory/bus-port.$node")" --cluster-node-timeout 15000
	done
	[ -f "$directory/formed" ] || form_cluster
}

# Once: the nodes keep it in their files.
form_cluster() {
	local node tries=0 nodes=() directory=$DIR/redis-cluster
	for node in $CLUSTER_NODES; do
		until redis_ping "$(cluster_port "$node")"; do
			tries=$((tries + 1))
			# The one who waits for the answer says what is wrong.
			if [ $tries -gt 50 ]; then return 0; fi
			sleep 0.1
		done
		nodes+=("127.0.0.1:$(cluster_port "$node")")
	done
	redis-cli --cluster create "${nodes[@]}" --cluster-replicas 0 --cluster-yes >>"$directory/log" 2>&1 || return 0
	touch "$directory/formed"
}

redis_cluster_answers() {
	local node info
	for node in $CLUSTER_NODES; do
		info=$(redis-cli -h 127.0.0.1 -p "$(cluster_port "$node")" cluster info 2>/dev/null) || return 1
		case $info in *cluster_state:ok*cluster_known_nodes:3*) ;; *) return 1 ;; esac
	done
}

redis_cluster_address() { echo "redis://127.0.0.1:$(cluster_port 1)"; }
