/**
 * The package `ws` on Node with nothing around it: every client is in one conversation, and the body of each POST goes
 * to all of them as one text frame. It is passed as bytes, so that `ws` need not convert the text for every socket.
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
