/** Calls the Web API and returns the server's answers unchanged. */

export interface Answer {
	readonly ok: boolean;
	readonly error?: string;
	// biome-ignore lint/suspicious/noExplicitAny: answers are read as tests expect them to be
	readonly [field: string]: any;
}

export type Call = (method: string, args?: Readonly<Record<string, unknown>>) => Promise<Answer>;

export class CallFailed extends Error {}

/** Returns the answer, including errors. */
export function rawClient(url: string, token: string, headers: Readonly<Record<string, string>> = {}): Call {
	return async (method, args = {}) => {
		const response = await fetch(`${url}/api/${method}`, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${token}`,
				'content-type': 'application/json; charset=utf-8',
				...headers,
			},
			body: JSON.stringify(args),
		});
		return (await response.json()) as Answer;
	};
}

/** Throws if the server returns an error. */
export function client(url: string, token: string, headers?: Readonly<Record<string, string>>): Call {
	const call = rawClient(url, token, headers);
	return async (method, args) => {
		const answer = await call(method, args);
		if (!answer.ok) throw new CallFailed(`${method} ${JSON.stringify(args)}: ${JSON.stringify(answer)}`);
		return answer;
	};
}
