import { createHmac } from 'node:crypto';
import type { Directory } from '../engine/ports/store.ts';
import type { RandomBytes } from '../model/ids.ts';

/**
 * A secret for each workspace, the same on every gateway, so that keyed hashes agree everywhere and outsiders
 * cannot compute them. A secret never changes and is cached once read.
 */

const SECRET_BYTES = 32;
const MAX_KEPT = 10_000;

export class TeamSecrets {
	private readonly known = new Map<string, string>();

	constructor(
		private readonly directory: Pick<Directory, 'teamSecret'>,
		private readonly random: RandomBytes,
	) {}

	/** Returns a keyed hash for one purpose; hashes of different purposes are unrelated. */
	async digestFor(team: string, purpose: string): Promise<(text: string) => Uint8Array> {
		const secret = await this.of(team);
		return (text) => createHmac('sha256', secret).update(`${purpose}:${text}`).digest();
	}

	private async of(team: string): Promise<string> {
		const known = this.known.get(team);
		if (known !== undefined) return known;
		const fresh = Buffer.from(this.random(SECRET_BYTES)).toString('hex');
		const secret = await this.directory.teamSecret(team, fresh);
		if (this.known.size >= MAX_KEPT) this.known.clear();
		this.known.set(team, secret);
		return secret;
	}
}
