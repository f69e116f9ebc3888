import { readdirSync, readlinkSync, realpathSync } from 'node:fs';

/** Which other process has this file open; null where the system does not say. */
export function holderOf(file: string): number | null {
	try {
		const path = realpathSync(file);
		const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
		const holder = others.find((id) => hasOpen(id, path));
		return holder === undefined ? null : Number(holder);
	} catch {
		// No /proc here: it stays unknown.
		return null;
	}
}

function hasOpen(id: string, path: string): boolean {
	try {
		const files = readdirSync(`/proc/${id}/fd`);
		return files.some((fd) => readlinkSync(`/proc/${id}/fd/${fd}`) === path);
	} catch {
		// It ended, or belongs to somebody else.
		return false;
	}
}
