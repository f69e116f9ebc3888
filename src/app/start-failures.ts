import {
	DatabaseDamaged,
	DataDirectoryInUse,
	DataDirectoryUnusable,
} from '../engine/embedded/sqlite/open.ts';
import { messageOfError } from '../model/errors.ts';
import { hostAndPort } from './listen-address.ts';

/** Explains why a command failed, for example why the server did not start, and what to do about it. */
export function explainFailure(error: unknown): string {
	if (error instanceof DataDirectoryInUse) return `${error.message} The flag is --data-dir.`;
	if (error instanceof DataDirectoryUnusable)
		return `${error.message}. Choose another one with --data-dir, or fix its permissions.`;
	if (error instanceof DatabaseDamaged)
		return `${error.message}. Restore it from a backup (docs/backup.md), or remove it to start with an empty database.`;
	if (error instanceof CannotListen) return explainListening(error);
	const message = messageOfError(error);
	const advice = adviceOn(message);
	return advice === null ? message : `${message.replace(/\.$/, '')}. ${advice}.`;
}

/** The settings to check when a service cannot be used. */
interface ServiceSettings {
	readonly service: RegExp;
	readonly place: string;
	readonly identity: string;
	readonly tls: string;
}

const SERVICES: readonly ServiceSettings[] = [
	{
		service: /^Redis /,
		place: 'TIDEMARK_REDIS_URL',
		identity: 'TIDEMARK_REDIS_URL',
		tls: 'TIDEMARK_REDIS_URL: rediss:// uses TLS, redis:// does not',
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

/** What to do about a service that rejects or drops the connection. The first match wins. */
const ADVICE: readonly { readonly sign: RegExp; readonly advice: (settings: ServiceSettings) => string }[] = [
	{
		sign: /certificate|self.signed|issuer/i,
		advice: () => 'Set TIDEMARK_TLS_CA_FILE to the certificate of the authority that signed its certificate',
	},
	{
		sign: /WRONGPASS|NOAUTH|authentication|SASL/i,
		advice: ({ identity }) => `Check the user and password in ${identity}`,
	},
	{
		sign: /replication factor/i,
		advice: () => 'Start more brokers, or lower TIDEMARK_KAFKA_REPLICATION',
	},
	{
		sign: /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/,
		advice: ({ place }) => `Start it, or correct ${place}`,
	},
	{
		// If only one side uses TLS, the connection is closed or times out.
		sign: /\bTLS\b|\bSSL\b|Connection is closed|ECONNRESET/,
		advice: ({ tls }) => `One side may use TLS and the other not: check ${tls}`,
	},
];

/** Advice without a full stop, for failed starts and `tidemark doctor`. Null: the error is not about a service. */
export function adviceOn(message: string): string | null {
	const settings = SERVICES.find(({ service }) => service.test(message));
	if (!settings) return null;
	const found = ADVICE.find(({ sign }) => sign.test(message));
	return found ? found.advice(settings) : `Check the service and ${settings.place}`;
}

/** The server cannot listen on the configured address. */
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

/**
 * Throws CannotListen if the address is unusable now; another program may still take it before the server listens.
 */
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
			return `port ${port} is in use by another program, perhaps another Tidemark. Stop that program, or choose another port with --port or TIDEMARK_PORT.`;
		case 'EACCES':
			return `port ${port} needs privileges, like all ports below 1024. Choose another port with --port or TIDEMARK_PORT.`;
		case 'EADDRNOTAVAIL':
			return `${host} is not an address of this machine. Choose another address with --host.`;
		default:
			return `cannot listen on ${hostAndPort(host, port)} (${message}). Choose another address with --host and --port.`;
	}
}
