import { readFile } from 'node:fs/promises';
import { OVERLAP_MICROS } from '../../model/position.ts';
import { hostAndPort, probeUrl } from '../listen-address.ts';
import { checkListening, explainFailure } from '../start-failures.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** Checks the machine: its port, its limit of open files, its clock. */

/** Files that a server opens in addition to sockets. */
const OTHER_FILES = 200;
/** A clock before this date is wrong: no release of Tidemark is older. */
const BEFORE_TIDEMARK_MS = Date.UTC(2025, 0);
const MAX_AHEAD_MS = 60_000;
const ANSWER_TIMEOUT_MS = 2_000;

export async function portFinding(host: string, port: number): Promise<Finding> {
	const about = 'port';
	if (port === 0) return ok(about, 'any free port');
	try {
		checkListening(host, port);
		return ok(about, `${port} is free`);
	} catch (error) {
		const degraded = await degradedOf(host, port);
		if (degraded?.length === 0) return ok(about, `a Tidemark server answers on port ${port}`);
		if (degraded)
			return bad(
				about,
				`the Tidemark server on port ${port} is degraded: ${degraded.join('; ')}`,
				'Follow the advice in that message',
			);
		return bad(about, `cannot listen on ${hostAndPort(host, port)}`, explainFailure(error));
	}
}

/** The problems that a Tidemark at this address reports; undefined: no Tidemark answers. */
async function degradedOf(host: string, port: number): Promise<readonly string[] | undefined> {
	try {
		const url = `${probeUrl(host, port)}/readyz`;
		const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
		const { degraded } = (await response.json()) as { degraded?: unknown };
		return Array.isArray(degraded) ? degraded.map(String) : undefined;
	} catch {
		return undefined;
	}
}

/** `sockets`: the expected number of open sockets. */
export async function filesFinding(sockets: number): Promise<Finding> {
	const about = 'open files';
	const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
	const found = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
	if (found === undefined)
		return warn(about, 'the limit is unknown on this system', 'Check it with ulimit -n');
	return judgeFiles(found === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found), sockets);
}

export function judgeFiles(limit: number, sockets: number): Finding {
	const about = 'open files';
	const needed = sockets + OTHER_FILES;
	if (limit >= needed) return ok(about, `${limit} allowed, enough for ${sockets} sockets`);
	return bad(
		about,
		`${limit} allowed, ${needed} needed for ${sockets} sockets`,
		`Raise it: ulimit -n ${needed}, or LimitNOFILE=${needed} for systemd`,
	);
}

/** `newestMs`: the newest stamp in the database; `others`: the clocks of the services, by service. */
export function judgeClock(
	nowMs: number,
	newestMs: number | null,
	others: Readonly<Record<string, number>>,
): Finding {
	const about = 'clock';
	const fix = 'Synchronise it with NTP (timedatectl set-ntp true)';
	if (nowMs < BEFORE_TIDEMARK_MS) return bad(about, `the machine's clock says ${iso(nowMs)}`, fix);
	if (newestMs !== null && newestMs - nowMs > MAX_AHEAD_MS)
		return bad(
			about,
			`the machine's clock says ${iso(nowMs)}, but the newest stamp in the database is ${iso(newestMs)}`,
			`${fix}; until then, new stamps continue from the newest one`,
		);
	for (const [whose, theirs] of Object.entries(others))
		if (Math.abs(theirs - nowMs) > CLOCKS_DIFFER_MS)
			return bad(
				about,
				`the machine's clock differs from that of ${whose} by ${Math.abs(theirs - nowMs)} ms`,
				fix,
			);
	return ok(about, iso(nowMs));
}

/** The largest difference between clocks that a resume covers: it starts this far before the client's position. */
const CLOCKS_DIFFER_MS = OVERLAP_MICROS / 1000;

const iso = (ms: number): string => new Date(ms).toISOString();
