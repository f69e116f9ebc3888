import { join } from 'node:path';
import { type TidemarkProcess, tidemark, UNLIMITED } from './process.ts';
import { ADMIN_TOKEN } from './server.ts';
import { spreadingProxy } from './spreading-proxy.ts';

/**
 * A cluster of real processes on real services, behind a load balancer that spreads connections over its gateways: two
 * requests of a user, or a request and the socket, may reach different gateways.
 */

const SERVICES = {
	TIDEMARK_REDIS_URL: 'TIDEMARK_TEST_REDIS_CLUSTER_URL',
	TIDEMARK_POSTGRES_URL: 'TIDEMARK_TEST_POSTGRES_URL',
	TIDEMARK_KAFKA_BROKERS: 'TIDEMARK_TEST_KAFKA_BROKERS',
} as const;

export type Role = 'gateway' | 'worker';

export interface Member extends TidemarkProcess {
	readonly role: Role;
	readonly url: string;
}

export interface TestCluster {
	/** The address of the load balancer. */
	readonly url: string;
	/** The prefix of its keys, topics and tables. */
	readonly installation: string;
	readonly gateways: readonly Member[];
	readonly workers: readonly Member[];
	/**
	 * Starts one more process of this role; a gateway gets connections from then on. `services`: settings of this
	 * process that replace the cluster's.
	 */
	add(role: Role, services?: Readonly<Record<string, string>>): Promise<Member>;
	end(member: Member, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
	stop(): Promise<void>;
}

export interface ClusterOptions {
	readonly gateways?: number;
	readonly workers?: number;
	readonly services?: Readonly<Record<string, string | undefined>>;
	readonly flags?: readonly string[];
	/** The limits on calls; tests run without them by default. */
	readonly limits?: 'none' | 'default';
	readonly environment?: Readonly<Record<string, string>>;
	/** A command that runs the gateway's command, such as one that limits its memory. */
	readonly gatewayWithin?: readonly string[];
}

const PRELOADED = ['lazy-schemas.ts', 'faulty-machine.ts'].map(
	(name) => `--preload=${join(import.meta.dir, name)}`,
);

/** Makes prefixes unique: process ids are reused while the services keep running. */
const BEGAN = Date.now().toString(36);
let clusters = 0;

export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
	const { gateways = 2, workers = 2, services = process.env, flags = [], gatewayWithin = [] } = options;
	const limits = options.limits === 'default' ? [] : UNLIMITED;
	clusters += 1;
	const installation = `t${process.pid}_${BEGAN}_${clusters}`;
	const environment: Record<string, string> = {
		TIDEMARK_INSTALLATION: installation,
		TIDEMARK_KAFKA_PARTITIONS: '8',
		TIDEMARK_KAFKA_REPLICATION: '1',
		TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN,
		TIDEMARK_LOG_LEVEL: 'error',
		BUN_OPTIONS: PRELOADED.join(' '),
		...options.environment,
	};
	for (const [name, variable] of Object.entries(SERVICES)) {
		const value = services[variable];
		if (!value) throw new Error(`${variable} is not set: a cluster cannot be tested. npm test sets it.`);
		environment[name] = value;
	}
	const running: Member[] = [];
	const begin = async (role: Role, own: Readonly<Record<string, string>> = {}): Promise<Member> => {
		const args = [role, '--port', '0', '--host', '127.0.0.1', ...limits, ...flags];
		const started = tidemark(args, { ...environment, ...own }, role === 'gateway' ? gatewayWithin : []);
		const url = (await started.printed(/(http:\/\/localhost:\d+)/)).replace('localhost', '127.0.0.1');
		const member = { ...started, role, url };
		running.push(member);
		return member;
	};
	// All may start at once: the process that is first creates topics and tables.
	const starting = await Promise.allSettled([
		...Array.from({ length: workers }, () => begin('worker')),
		...Array.from({ length: gateways }, () => begin('gateway')),
	]);
	const failed = starting.find(({ status }) => status === 'rejected');
	if (failed?.status === 'rejected') {
		await Promise.all(running.map((member) => member.end('SIGKILL')));
		throw failed.reason;
	}
	const proxy = spreadingProxy(running.filter(({ role }) => role === 'gateway').map(({ url }) => url));
	const of = (role: Role) => running.filter((member) => member.role === role);
	const forget = (member: Member): void => {
		running.splice(running.indexOf(member), 1);
		proxy.leaveOut(member.url);
	};
	return {
		url: proxy.url,
		installation,
		get gateways() {
			return of('gateway');
		},
		get workers() {
			return of('worker');
		},
		add: async (role, services) => {
			const member = await begin(role, services);
			if (role === 'gateway') proxy.add(member.url);
			return member;
		},
		end: async (member, signal) => {
			forget(member);
			await member.end(signal);
		},
		stop: async () => {
			proxy.stop();
			const ended = await Promise.all(running.map((member) => member.end('SIGTERM')));
			const complaints = ended.flatMap(({ err }) =>
				err.split('\n').filter((line) => line.includes('"level":50')),
			);
			if (process.env.SHOW_CLUSTER_LOG) console.log(complaints.join('\n'));
		},
	};
}
