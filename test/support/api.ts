/** Calls of the Web API, as plain as they come: what the server answers is what the test sees. */

export interface Answer {
	readonly ok: boolean;
	readonly error?: string;
	// biome-ignore lint/suspicious/noExplicitAny: answers are read as tests expect them to be
	readonly [field: string]: any;
}

export type Call = (method: string, args?: Readonly<Record<string, unknown>>) => Promise<Answer>;

export class CallFailed extends Error {}

/** Answers whatever the server says, refusals included. */
export function rawClient(url: string, token: string): Call {
	return async (method, args = {}) => {
		const response = await fetch(`${url}/api/${method}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
			body: JSON.stringify(args),
		});
		return (await response.json()) as Answer;
	};
}

/** Throws where the server refuses. */
export function client(url: string, token: string): Call {
	const call = rawClient(url, token);
	return async (method, args) => {
		const answer = await call(method, args);
		if (!answer.ok) throw new CallFailed(`${method} ${JSON.stringify(args)}: ${JSON.stringify(answer)}`);
		return answer;
	};
}
