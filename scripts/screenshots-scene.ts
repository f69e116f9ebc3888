import { type DemoUser, seedDemo } from '../src/app/demo.ts';
import { apiClient } from '../src/remote/api-client.ts';
import { type Call, client } from '../test/support/api.ts';
import { ADMIN_TOKEN } from '../test/support/server.ts';

/** The demo workspace, as `npm start` creates it, and the parts of it that the screenshots show. */

interface SceneUser extends DemoUser {
	readonly call: Call;
}

export interface PictureScene {
	readonly ada: SceneUser;
	readonly grace: SceneUser;
	readonly channel: string;
	readonly thread: string;
	/** Posts at a changing rate, for the charts. */
	makeTraffic(ms: number): Promise<void>;
}

export async function makeScene(url: string): Promise<PictureScene> {
	const users = await seedDemo(url, apiClient(url, ADMIN_TOKEN));
	const person = (wanted: string): SceneUser => {
		const user = users.find(({ name }) => name === wanted);
		if (!user) throw new Error(`the demo workspace has no user ${wanted}, which the screenshots need`);
		return { ...user, call: client(url, user.token) };
	};
	const [ada, grace, alan] = [person('ada'), person('grace'), person('alan')];
	const { channels } = await ada.call('conversations.list');
	const idOf = (wanted: string): string =>
		channels.find(({ name }: { name: string }) => name === wanted)?.id ?? '';
	const { messages } = await ada.call('conversations.history', { channel: idOf('releases') });
	const thread = messages.find(({ reply_count: replies = 0 }) => replies > 0)?.ts ?? '';

	const makeTraffic = async (ms: number): Promise<void> => {
		const post = (index: number) =>
			alan.call('chat.postMessage', { channel: idOf('general'), text: `line ${index}` });
		for (const end = Date.now() + ms; Date.now() < end; ) {
			const size = 3 + Math.round(8 * Math.abs(Math.sin(Date.now() / 3_000)));
			await Promise.all(Array.from({ length: size }, (_, index) => post(index)));
			await Bun.sleep(100);
		}
	};
	return { ada, grace, channel: idOf('releases'), thread, makeTraffic };
}
