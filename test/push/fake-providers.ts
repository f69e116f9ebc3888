import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { certificateForLocalhost } from './certificate.ts';
import type { Faults } from './fake-faults.ts';

/** Starts the fake providers in a process of their own, with the files and settings that a server needs for them. */

export interface Counts {
	readonly sent: number;
	readonly repeated: number;
	readonly doubled: number;
	readonly withdrawn: number;
	readonly showing: number;
	readonly updates: number;
	readonly connections: number;
	readonly providerTokens: number;
	readonly exchanges: number;
	readonly web: { readonly connections: number; readonly tokens: number; readonly wrong: readonly string[] };
}

export interface ShownPhone {
	readonly shown: Readonly<Record<string, { readonly title: string; readonly body: string }>>;
	readonly badge: number;
	readonly received: number;
	readonly withdrawn: number;
	readonly updates: readonly { readonly at: number; readonly badge: number }[];
}

export interface FakeProviders {
	readonly flags: readonly string[];
	readonly environment: Readonly<Record<string, string>>;
	readonly keyFile: string;
	readonly serviceAccountFile: string;
	counts(): Promise<Counts>;
	/** For a browser, its name. */
	phone(token: string): Promise<ShownPhone>;
	/**
	 * Subscribes a browser at the push service, for the server with this key, and returns the device token. `old-…`
	 * subscribes at a service without HTTP/2.
	 */
	subscribe(name: string, key: string): Promise<string>;
	/** The pushes that a browser got, decrypted. */
	payloads(name: string): Promise<readonly string[]>;
	faults(faults: Partial<Faults>): Promise<void>;
	apns(up: boolean): Promise<void>;
	stop(): Promise<void>;
}

const TOPIC = 'org.example.tidemark';
const EMAIL = 'push@example.iam.gserviceaccount.com';

const privatePem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const publicPem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();

export async function startProviders(directory: string): Promise<FakeProviders> {
	const place = join(directory, 'providers');
	await mkdir(place, { recursive: true });
	const apnsKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const fcmKey = generateKeyPairSync('rsa', { modulusLength: 2048 });
	const certificate = certificateForLocalhost();
	const child = Bun.spawn([process.execPath, join(import.meta.dir, 'fake-providers-process.ts')], {
		env: {
			...process.env,
			FAKE_PROVIDERS: JSON.stringify({
				...certificate,
				apns: {
					publicKey: publicPem(apnsKey.publicKey),
					keyId: 'KEY0000001',
					teamId: 'TEAM000001',
					topic: TOPIC,
				},
				fcm: { publicKey: publicPem(fcmKey.publicKey), project: 'example', email: EMAIL },
			}),
		},
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const ports = JSON.parse(await firstLine(child.stdout)) as {
		control: number;
		apns: number;
		fcm: number;
		hosts: string;
	};
	const control = `http://127.0.0.1:${ports.control}`;
	const files = {
		cert: join(place, 'cert.pem'),
		key: join(place, 'AuthKey.p8'),
		account: join(place, 'account.json'),
	};
	await writeFile(files.cert, certificate.cert);
	await writeFile(files.key, privatePem(apnsKey.privateKey));
	const account = {
		type: 'service_account',
		project_id: 'example',
		client_email: EMAIL,
		private_key: privatePem(fcmKey.privateKey),
		token_uri: `${control}/token`,
	};
	await writeFile(files.account, JSON.stringify(account));
	const ask = async (path: string, body?: object) => {
		const response = await fetch(
			`${control}${path}`,
			body ? { method: 'POST', body: JSON.stringify(body) } : {},
		);
		return response.json();
	};
	return {
		keyFile: files.key,
		serviceAccountFile: files.account,
		environment: { NODE_EXTRA_CA_CERTS: files.cert },
		flags: [
			...['--apns-key-file', files.key, '--apns-key-id', 'KEY0000001', '--apns-team-id', 'TEAM000001'],
			...['--apns-topic', TOPIC, '--apns-host', `https://localhost:${ports.apns}`],
			...['--fcm-service-account-file', files.account, '--fcm-host', `https://localhost:${ports.fcm}`],
			...['--web-push-hosts', ports.hosts],
		],
		counts: () => ask('/counts') as Promise<Counts>,
		phone: (token) => ask(`/phone?token=${encodeURIComponent(token)}`) as Promise<ShownPhone>,
		subscribe: async (name, key) => ((await ask('/subscribe', { name, key })) as { token: string }).token,
		payloads: (name) => ask(`/payloads?name=${encodeURIComponent(name)}`) as Promise<string[]>,
		faults: async (faults) => void (await ask('/faults', faults)),
		apns: async (up) => void (await ask('/apns', { up })),
		stop: async () => {
			child.kill('SIGKILL');
			await child.exited;
		},
	};
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
	let text = '';
	const decoder = new TextDecoder();
	for await (const chunk of stream) {
		text += decoder.decode(chunk, { stream: true });
		if (text.includes('\n')) return text.slice(0, text.indexOf('\n'));
	}
	throw new Error('the fake providers ended before they were ready');
}
