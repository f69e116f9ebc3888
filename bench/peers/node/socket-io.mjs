/**
 * Socket.IO on Node with nothing around it: whoever connects joins one room, and the JSON of each POST goes to the room
 * as one event. Its defaults, but for long polling: clients here speak WebSocket from the beginning.
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
