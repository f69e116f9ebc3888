import { RTMClient } from '@slack/rtm-api';
import { quiet } from './slack.ts';

/**
 * A process around Slack's RTMClient that sends over the socket. Version 7.0.4 throws when a client that has sent
 * disconnects, so this process exits without disconnecting. Arguments: address, token, then alternately channel and text.
 * Prints each result as a line of JSON.
 */

const [url = '', token = '', ...sends] = process.argv.slice(2);
const client = new RTMClient(token, { slackApiUrl: `${url}/api/`, logger: quiet });
const ready = new Promise((done) => client.once('ready', done));
await client.start();
await ready;
for (let index = 0; index < sends.length; index += 2) {
	const outcome = await client.sendMessage(sends[index + 1] ?? '', sends[index] ?? '').catch((error) => ({
		error: error.message,
		data: error.data,
	}));
	console.log(JSON.stringify(outcome));
}
process.exit(0);
