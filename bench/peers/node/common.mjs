/** What the peers on Node share: the directory of their packages, and the endpoint for messages to publish. */
import { createRequire } from 'node:module';

/** bench/support/node-peers.ts installs the packages, and passes their directory. */
export const packages = createRequire(`${process.argv[2]}/`);

/** Handles `POST /publish`: passes its bytes on, and answers. */
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
	// Never close idle connections: a post on a connection that is just being closed would be lost.
	server.keepAliveTimeout = 0;
	server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
};
