import { CANARY } from './cast.ts';

/** What no answer and no frame may contain, whatever was sent. */

/** Source lines, paths, and texts of Bun's developer page. */
export const REVEALING =
	/new URL|\/src\/|\.ts:\d|bun:|node_modules|Internal Server Error|SQLITE_|syntax error/;

/** The status with which the HTTP parser rejects bytes that are not HTTP, such as frames that arrive before the upgrade was answered. */
const NOT_HTTP = 505;

export class Finding extends Error {}

export function inspect(what: string, sent: string, received: string, status = 200): void {
	const problem =
		status >= 500 && status !== NOT_HTTP
			? `status ${status}`
			: received.includes(CANARY)
				? 'it contains content of another workspace'
				: received.includes('internal_error')
					? 'internal_error'
					: REVEALING.exec(received)?.[0];
	if (problem === undefined) return;
	throw new Finding(
		`${what}: ${problem}\nsent: ${sent.slice(0, 2_000)}\nreceived: ${received.slice(0, 1_000)}`,
	);
}
