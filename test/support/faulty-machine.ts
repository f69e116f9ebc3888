import { Socket } from 'node:net';

/**
 * Loaded before the server in processes of a test cluster: makes one process run as if on a machine with a wrong clock,
 * or routes its connections to a service through another port. Kafka clients connect to the addresses that brokers
 * announce, so a setting cannot lead them through a proxy.
 */

/** Settings of a process: `TEST_CLOCK_AHEAD_MS`, and `TEST_ROUTES` as `from=to,…` with ports of this machine. */
const { TEST_CLOCK_AHEAD_MS = '0', TEST_ROUTES = '' } = process.env;

const aheadMs = Number(TEST_CLOCK_AHEAD_MS);
if (aheadMs !== 0) {
	const real = Date.now;
	const now = (): number => real() + aheadMs;
	globalThis.Date = new Proxy(Date, {
		construct: (target, args, newTarget) =>
			Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
		apply: () => new Date(now()).toString(),
		get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
	});
}

const routes = new Map(
	TEST_ROUTES.split(',').map((route) => route.split('=').map(Number) as [number, number]),
);
if (TEST_ROUTES !== '') {
	const { connect } = Socket.prototype;
	/** Node passes the arguments as one list, which begins with the options. */
	Socket.prototype.connect = function rerouted(this: Socket, ...args: unknown[]): Socket {
		const [options] = (Array.isArray(args[0]) ? args[0] : args) as [{ port?: number }];
		const port = routes.get(Number(options?.port));
		if (port !== undefined) options.port = port;
		return connect.apply(this, args as Parameters<typeof connect>);
	} as typeof connect;
}
