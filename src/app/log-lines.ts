/** Formats lines of the server's log for terminals: time, level, message, other fields. Elsewhere the log is JSON. */

const LEVELS: Readonly<Record<number, string>> = {
	10: 'trace',
	20: 'debug',
	30: 'info',
	40: 'WARN',
	50: 'ERROR',
	60: 'FATAL',
};
const WIDTH = 5;

/** `json` is one line written by pino. Text that is not JSON is returned unchanged. */
export function readableLine(json: string): string {
	let entry: Record<string, unknown>;
	try {
		entry = JSON.parse(json) as Record<string, unknown>;
	} catch {
		return json;
	}
	const { time, level, msg, err, ...others } = entry;
	const clock = typeof time === 'number' ? new Date(time).toTimeString().slice(0, 8) : '';
	const name = LEVELS[Number(level)] ?? String(level);
	const more = Object.entries(others).map(([key, value]) => `${key}=${brief(value)}`);
	const head = [clock, name.padEnd(WIDTH), msg, ...more].filter((part) => part !== undefined && part !== '');
	return `${[head.join(' '), ...stackOf(err)].join('\n')}\n`;
}

const brief = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function stackOf(error: unknown): string[] {
	if (typeof error !== 'object' || error === null) return [];
	const { stack, message } = error as { stack?: unknown; message?: unknown };
	const text = typeof stack === 'string' ? stack : String(message ?? '');
	return text === '' ? [] : text.split('\n').map((line) => `      ${line.trim()}`);
}
