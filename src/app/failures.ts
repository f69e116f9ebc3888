import {
	DatabaseDamaged,
	DataDirectoryInUse,
	DataDirectoryUnusable,
} from '../engine/embedded/sqlite/open.ts';

/** Why the server did not start, and what to do about it, in words. */
export function explainFailure(error: unknown): string {
	if (error instanceof DataDirectoryInUse) return `${error.message} The flag is --data-dir.`;
	if (error instanceof DataDirectoryUnusable)
		return `${error.message}. Choose another one with --data-dir, or fix its permissions.`;
	if (error instanceof DatabaseDamaged)
		return `${error.message}. Restore it from a backup: docs/operations.md says how, in "Data and backup".`;
	if (error instanceof CannotListen) return explainListening(error);
	const message = error instanceof Error ? error.message : String(error);
	const advice = adviceOn(message);
	return advice === null ? message : `${message.replace(/\.$/, '')}. ${advice}.`;
}

/** Of topics that are to be made on more brokers than there are. */
export const TOO_FEW_BROKERS = 'Start more brokers, or set TIDEMARK_KAFKA_REPLICATION';

/** Which settings say what of a service. */
interface Named {
	readonly service: RegExp;
	readonly place: string;
	readonly identity: string;
	readonly tls: string;
}

const NAMED: readonly Named[] = [
	{
		service: /^Redis /,
		place: 'TIDEMARK_REDIS_URL',
		identity: 'TIDEMARK_REDIS_URL',
		tls: 'TIDEMARK_REDIS_URL: rediss:// is with TLS, redis:// without',
	},
	{
		service: /^PostgreSQL /,
		place: 'TIDEMARK_POSTGRES_URL',
		identity: 'TIDEMARK_POSTGRES_URL',
		tls: 'sslmode in TIDEMARK_POSTGRES_URL',
	},
	{
		service: /^Kafka /,
		place: 'TIDEMARK_KAFKA_BROKERS',
		identity: 'TIDEMARK_KAFKA_SASL_USERNAME, …_PASSWORD and …_MECHANISM',
		tls: 'TIDEMARK_KAFKA_TLS and TIDEMARK_KAFKA_BROKERS',
	},
];

/** What to do about a service that does not let this process in. The first that fits. */
const ADVICE: readonly { readonly sign: RegExp; readonly advice: (named: Named) => string }[] = [
	{
		sign: /certificate|self.signed|issuer/i,
		advice: () => 'Name the authority that signed its certificate with TIDEMARK_TLS_CA_FILE',
	},
	{
		sign: /WRONGPASS|NOAUTH|authentication|SASL/i,
		advice: ({ identity }) => `Check the user and password in ${identity}`,
	},
	{
		sign: /replication factor/i,
		advice: () => TOO_FEW_BROKERS,
	},
	{
		sign: /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/,
		advice: ({ place }) => `Start it, or correct ${place}`,
	},
	{
		// Who speaks TLS to one that does not, or the other way round, is cut off or waits in vain.
		sign: /\bTLS\b|\bSSL\b|Connection is closed|ECONNRESET/,
		advice: ({ tls }) => `One side may use TLS and the other not: check ${tls}`,
	},
];

/** In words, without a full stop: for a start that failed and for `tidemark doctor`. Null: it is not about a service. */
export function adviceOn(message: string): string | null {
	const named = NAMED.find(({ service }) => service.test(message));
	if (!named) return null;
	const found = ADVICE.find(({ sign }) => sign.test(message));
	return found ? found.advice(named) : `Check the service and ${named.place}`;
}

/** The address that was configured cannot be listened on. */
export class CannotListen extends Error {
	readonly code: string | undefined;

	constructor(
		readonly host: string,
		readonly port: number,
		override readonly cause: unknown,
	) {
		super(cause instanceof Error ? cause.message : String(cause));
		this.name = 'CannotListen';
		this.code = (cause as { code?: string }).code;
	}
}

/** Throws CannotListen where one could not listen there; who listens in the moment after is found out later. */
export function checkListening(host: string, port: number): void {
	try {
		Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true);
	} catch (error) {
		throw new CannotListen(host, port, error);
	}
}

function explainListening({ host, port, code, message }: CannotListen): string {
	switch (code) {
		case 'EADDRINUSE':
			return `port ${port} is taken by another program, perhaps another Tidemark. Stop that one, or choose another one with --port or TIDEMARK_PORT.`;
		case 'EACCES':
			return `port ${port} needs privileges, as all below 1024 do. Choose another one with --port or TIDEMARK_PORT.`;
		case 'EADDRNOTAVAIL':
			return `${host} is not an address of this machine. Choose another one with --host.`;
		default:
			return `${host}:${port} cannot be listened on (${message}). Choose others with --host and --port.`;
	}
}
