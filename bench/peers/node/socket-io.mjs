/**
 * Socket.IO on Node with nothing around it: every client joins one room, and the JSON of each POST goes to the room as
 * one event. With Socket.IO's defaults, except for long polling: these clients use WebSocket from the start.
 */
import { createServer } from 'node:http';
import { listen, packages, publishedOn } from './common.mjs';

const { Server } = packages('socket.io');
const ROOM = 'conversation';
const EVENT = 'message';

const server = createServer();
const io = new Server(server, { transports: ['websocket'], serveClient: false });
io.on('connection', (socket) => socket.join(ROOM));
server.on(
	'request',
	publishedOn((body) => io.to(ROOM).emit(EVENT, JSON.parse(body.toString()))),
);
listen(server);
