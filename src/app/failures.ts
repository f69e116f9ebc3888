import {
	DatabaseDamaged,
	DataDirectoryInUse,
	DataDirectoryUnusable,
} from '../engine/embedded/sqlite/open.ts';

/** Why the server did not start, and what to do about it, in words. */
export function explainFailure(error: unknown): string {
	if (error instanceof DataDirectoryInUse) return `${error.message} The flag is --data-dir.`;
	if (error instanceof DataDirectoryUnusable)
		return `${error.message}. Choose another one with --data-dir, or mend its permissions.`;
	if (error instanceof DatabaseDamaged)
		return `${error.message}. Restore it from a backup: docs/operations.md says how, in "Data and backup".`;
	if (error instanceof CannotListen) return explainListening(error);
	const message = error instanceof Error ? error.message : String(error);
	return `${message}${adviceOn(message)}`;
}

/** What to look at when a service does not let this process in. */
const ADVICE: readonly { readonly service: RegExp; readonly settings: string }[] = [
	{ service: /^Redis /, settings: 'TIDEMARK_REDIS_URL' },
	{ service: /^PostgreSQL /, settings: 'TIDEMARK_POSTGRES_URL' },
	{ service: /^Kafka /, settings: 'TIDEMARK_KAFKA_SASL_USERNAME, …_PASSWORD and …_MECHANISM' },
];
const UNTRUSTED = /certificate|self.signed|issuer/i;
const NOT_LET_IN = /WRONGPASS|NOAUTH|authentication|SASL/i;

function adviceOn(message: string): string {
	const found = ADVICE.find(({ service }) => service.test(message));
	if (!found) return '';
	if (UNTRUSTED.test(message))
		return '. Name the authority that signed its certificate with TIDEMARK_TLS_CA_FILE.';
	return NOT_LET_IN.test(message) ? `. Look at user and password in ${found.settings}.` : '';
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
			return `${host} is no address of this machine. Choose another one with --host.`;
		default:
			return `${host}:${port} cannot be listened on (${message}). Choose others with --host and --port.`;
	}
}
