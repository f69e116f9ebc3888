/** What the client does after a socket has closed, by close code (docs/sockets.md). */

export type NextStep = 'resume' | 'resync' | 'new_token' | 'stop';

const REASONS: Readonly<Record<number, string>> = {
	4200: 'signed_out',
	4201: 'bad_frame',
	4203: 'token_expired',
	4204: 'too_many_sockets',
};

export const reasonOf = (code: number): string => REASONS[code] ?? 'closed';

export function afterClose(code: number): NextStep {
	if (code >= 4100 && code < 4200) return 'resync';
	// The ticket has expired; the next attempt gets a new one.
	if (code === 4202) return 'resume';
	if (code === 4203) return 'new_token';
	return code >= 4200 && code < 4300 ? 'stop' : 'resume';
}
