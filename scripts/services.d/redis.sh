# A single Redis, three nodes that form a cluster, and a replica of each node: without persistence, on loopback only.

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

redis_cluster_ports() { node_ports "$DIR/redis-cluster"; }

node_ports() {
	local node
	for node in $CLUSTER_NODES; do
		free_port >"$1/port.$node"
		free_port >"$1/bus-port.$node"
	done
}

redis_cluster_start() {
	start_nodes "$DIR/redis-cluster"
	[ -f "$DIR/redis-cluster/formed" ] || form_cluster
}

start_nodes() {
	local node
	for node in $CLUSTER_NODES; do
		runs "$1/pid.$node" && continue
		run_in "$1" "$1/pid.$node" redis-server --port "$(cat "$1/port.$node")" "${REDIS_OPTIONS[@]}" \
			--cluster-enabled yes --cluster-config-file "nodes.$node.conf" \
			--cluster-port "$(cat "$1/bus-port.$node")" --cluster-node-timeout 15000
	done
}

# Needed only once: the nodes store the cluster's layout in their files.
form_cluster() {
	local node tries=0 nodes=() directory=$DIR/redis-cluster
	for node in $CLUSTER_NODES; do
		until redis_ping "$(cluster_port "$node")"; do
			tries=$((tries + 1))
			# await_answer reports the problem.
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
		case $info in *cluster_state:ok*cluster_known_nodes:[36]*) ;; *) return 1 ;; esac
	done
}

redis_cluster_address() { echo "redis://127.0.0.1:$(cluster_port 1)"; }

# Replicas of the redis-cluster in the same directory, which must be running. Redis promotes a replica when its master was silent
# for 3 s.
redis_replicas_ports() { node_ports "$DIR/redis-replicas"; }
redis_replicas_create() { [ -f "$DIR/redis-cluster/formed" ] || fail 'redis-replicas needs redis-cluster'; }
replica_port() { cat "$DIR/redis-replicas/port.$1"; }

redis_replicas_start() {
	start_nodes "$DIR/redis-replicas"
	[ -f "$DIR/redis-replicas/formed" ] || join_replicas
}

join_replicas() {
	local node tries=0
	for node in $CLUSTER_NODES; do
		until redis_ping "$(replica_port "$node")"; do
			tries=$((tries + 1))
			if [ $tries -gt 50 ]; then return 0; fi
			sleep 0.1
		done
		redis-cli --cluster add-node "127.0.0.1:$(replica_port "$node")" "$(redis_cluster_address | cut -c9-)" --cluster-slave \
			--cluster-master-id "$(redis-cli -p "$(cluster_port "$node")" cluster myid)" >>"$DIR/redis-replicas/log" 2>&1 || return 0
	done
	for node in $CLUSTER_NODES; do
		redis-cli -p "$(cluster_port "$node")" config set cluster-node-timeout 3000
		redis-cli -p "$(replica_port "$node")" config set cluster-node-timeout 3000
	done >>"$DIR/redis-replicas/log"
	touch "$DIR/redis-replicas/formed"
}

# Each replica (or promoted master) is in a cluster of six nodes that serves all slots, and has all of its master's data.
redis_replicas_answers() {
	local node info
	for node in $CLUSTER_NODES; do
		info=$(redis-cli -h 127.0.0.1 -p "$(replica_port "$node")" cluster info 2>/dev/null) || return 1
		case $info in *cluster_state:ok*cluster_known_nodes:6*) ;; *) return 1 ;; esac
		info=$(redis-cli -h 127.0.0.1 -p "$(replica_port "$node")" info replication 2>/dev/null) || return 1
		case $info in *role:master* | *master_link_status:up*) ;; *) return 1 ;; esac
	done
}

redis_replicas_address() { echo "redis://127.0.0.1:$(replica_port 1)"; }
