/**
 * The package `ws` on Node with nothing around it: whoever connects is in one conversation, and the body of each POST
 * goes to all of it as one text frame, handed over as bytes, which spares `ws` converting the text for every socket.
 */
import { createServer } from 'node:http';
import { listen, packages, publishedOn } from './common.mjs';

const { WebSocketServer } = packages('ws');
const HELLO = '{"type":"hello"}';

const members = new Set();
const server = createServer(
	publishedOn((body) => {
		for (const socket of members) socket.send(body, { binary: false });
	}),
);
const sockets = new WebSocketServer({ server });
sockets.on('connection', (socket) => {
	members.add(socket);
	socket.on('close', () => members.delete(socket));
	socket.send(HELLO);
});
listen(server);
