import type { AddressInfo } from 'node:net';
import { FakeApns } from './fake-apns.ts';
import { Phones } from './fake-devices.ts';
import { noFaults } from './fake-faults.ts';
import { FakeFcm } from './fake-fcm.ts';
import { FakeWebPush } from './fake-web-push.ts';

/**
 * All fake providers in a process of their own, so that they neither share a core with the sender nor die with it.
 * Environment variables configure it; tests read its state and set faults over plain HTTP.
 */

const given = JSON.parse(process.env.FAKE_PROVIDERS ?? '{}');
const phones = new Phones();
const faults = noFaults();
const apns = new FakeApns({ ...given.apns, key: given.key, cert: given.cert, phones, faults });
const fcm = new FakeFcm({ ...given.fcm, key: given.key, cert: given.cert, phones, faults });
const web = new FakeWebPush({ key: given.key, cert: given.cert, phones, faults });
/** A push service without HTTP/2. */
const old = new FakeWebPush({ key: given.key, cert: given.cert, phones, faults });

let address = '';
const control: { readonly port: number | undefined } = Bun.serve({
	port: 0,
	hostname: '127.0.0.1',
	routes: {
		'/token': (request) => fcm.exchange(request, address),
		'/counts': () =>
			Response.json({
				...phones.counts(),
				connections: apns.connections,
				providerTokens: apns.providerTokens,
				exchanges: fcm.exchanges,
				web: { connections: web.connections, tokens: web.tokens.size, wrong: [...web.wrong, ...old.wrong] },
			}),
		'/phone': (request) => {
			const phone = phones.of(new URL(request.url).searchParams.get('token') ?? '');
			return Response.json({ ...phone, shown: Object.fromEntries(phone.shown) });
		},
		'/faults': async (request) => Response.json(Object.assign(faults, await request.json())),
		// A browser with this name subscribes, or subscribes again.
		'/subscribe': async (request) => {
			const { name, key } = (await request.json()) as { name: string; key: string };
			return Response.json({ token: (name.startsWith('old-') ? old : web).subscribe(name, key) });
		},
		'/payloads': (request) =>
			Response.json(web.payloads.get(new URL(request.url).searchParams.get('name') ?? '') ?? []),
		// APNs itself stops and starts, on the same port.
		'/apns': async (request) => {
			const { up } = (await request.json()) as { up: boolean };
			if (up) await listen(apns.server, apnsPort);
			else await new Promise<void>((resolve) => apns.server.close(() => resolve()));
			return Response.json({ up });
		},
	},
});

const listen = (server: typeof apns.server, port: number): Promise<number> =>
	new Promise((resolve) => {
		server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
	});

address = `http://127.0.0.1:${control.port}/token`;
const apnsPort = await listen(apns.server, 0);
const fcmPort = await listen(fcm.server, 0);
const webPort = await listen(web.server, 0);
web.listeningAt(`https://localhost:${webPort}`);
const { key, cert } = given;
const { port: oldPort } = Bun.serve({ port: 0, tls: { key, cert }, fetch: (request) => old.fetch(request) });
old.listeningAt(`https://localhost:${oldPort}`);
const hosts = `localhost:${webPort},localhost:${oldPort}`;
console.log(JSON.stringify({ control: control.port, apns: apnsPort, fcm: fcmPort, hosts }));
