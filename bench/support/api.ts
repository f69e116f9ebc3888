import { tokenOf } from './dataset.ts';

/** One call of a method by a user of the dataset. Throws if the server returns an error. */
export async function api<T = unknown>(
	url: string,
	user: string,
	method: string,
	args: Readonly<Record<string, string>> = {},
): Promise<T> {
	const response = await fetch(`${url}/api/${method}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${tokenOf(user)}` },
		body: new URLSearchParams(args),
	});
	const answer = (await response.json()) as { readonly ok: boolean };
	if (!answer.ok) throw new Error(`${method}: ${JSON.stringify(answer).slice(0, 300)}`);
	return answer as T;
}
