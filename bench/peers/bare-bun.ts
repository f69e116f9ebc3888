/** Bun's own server with nothing around it: the cost of answering and publishing alone. */

const TOPIC = 'all';
const ANSWER = (id: string) => `{"ok":true,"reply_to":${id},"ts":"1700000000.000000","text":"as sent"}`;

const server = Bun.serve({
	hostname: '127.0.0.1',
	port: 0,
	idleTimeout: 120,
	fetch: async (request, self) => {
		if (request.headers.get('upgrade') !== null && self.upgrade(request)) return undefined;
		if (request.url.endsWith('/publish')) self.publish(TOPIC, await request.text());
		else await request.json();
		return new Response('{"ok":true}', { headers: { 'content-type': 'application/json' } });
	},
	websocket: {
		idleTimeout: 120,
		open: (socket) => {
			socket.subscribe(TOPIC);
			socket.send('{"type":"hello"}');
		},
		message: (socket, frame) => {
			socket.send(ANSWER(String((JSON.parse(String(frame)) as { id: number }).id)));
		},
	},
});

console.log(`port ${server.port}`);
