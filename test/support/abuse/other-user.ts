import { client } from '../api.ts';

/** Another user, in a thread of its own, so that the measured time does not include the flood's event loop. */

declare const self: Worker;

export type OtherCall = readonly [method: string, args: Readonly<Record<string, unknown>>];

export interface Work {
	readonly url: string;
	readonly token: string;
	/** The calls, made in turn. */
	readonly calls: readonly OtherCall[];
	readonly forMs: number;
}

export type Waited = { readonly waitsMs: readonly number[] } | { readonly problem: string };

const PAUSE_MS = 20;

self.onmessage = async ({ data }: MessageEvent<Work>) => {
	const { url, token, calls, forMs } = data;
	const call = client(url, token);
	const end = performance.now() + forMs;
	const waitsMs: number[] = [];
	try {
		do {
			const [method, args] = calls[waitsMs.length % calls.length] as OtherCall;
			const started = performance.now();
			await call(method, args);
			waitsMs.push(performance.now() - started);
			await Bun.sleep(PAUSE_MS);
		} while (performance.now() < end);
		self.postMessage({ waitsMs } satisfies Waited);
	} catch (error) {
		self.postMessage({ problem: (error as Error).message } satisfies Waited);
	}
};
