import { type HostAnswer, HostUnreachable } from '../http2-host.ts';

/** For push services without HTTP/2, which the protocol allows. */

const ANSWER_TIMEOUT_MS = 10_000;

export async function postOverHttp1(
	url: string,
	headers: Readonly<Record<string, string>>,
	body: Uint8Array<ArrayBuffer>,
): Promise<HostAnswer> {
	try {
		const answer = await fetch(url, {
			method: 'POST',
			headers,
			body,
			// A redirect could lead to a host that is not allowed.
			redirect: 'manual',
			signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
		});
		return {
			status: answer.status,
			headers: Object.fromEntries(answer.headers),
			body: await answer.text(),
		};
	} catch (error) {
		throw new HostUnreachable(new URL(url).host, (error as Error).message);
	}
}
