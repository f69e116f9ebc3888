/** What the peers on Node share: where their packages lie, how a message to publish comes in, and where. */
import { createRequire } from 'node:module';

/** Installed by bench/support/node-peers.ts, which tells the directory. */
export const packages = createRequire(`${process.argv[2]}/`);

/** Takes `POST /publish`, hands its bytes on, and answers. */
export const publishedOn = (publish) => (request, response) => {
	const parts = [];
	request.on('data', (part) => parts.push(part));
	request.on('end', () => {
		publish(Buffer.concat(parts));
		response.setHeader('content-type', 'application/json');
		response.end('{"ok":true}');
	});
};

export const listen = (server) => {
	// Connections are kept however long the others' turns take: one that closes just as it is used again loses a post.
	server.keepAliveTimeout = 0;
	server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
};
