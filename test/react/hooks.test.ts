import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
	TidemarkProvider,
	useBadge,
	useClient,
	useConnection,
	useConversation,
	useFileLink,
	useInbox,
	useSelected,
	useSnapshot,
	useThread,
	useThreads,
	useUser,
} from '@tidemark/client/react';
import { createElement, type ReactNode, StrictMode, useState } from 'react';
import { renderToString } from 'react-dom/server';
import type { TidemarkClient } from '../../client/src/index.ts';
import { Network, until } from '../support/client/network.ts';
import { draw } from '../support/client/react-root.ts';
import { sdk } from '../support/client/sdk.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** The hooks in real React: they return the current state, update with it, and cause no other rendering. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function stage() {
	const { people } = await makeWorkspace(server.url, 2);
	const [ada, bo] = people as [Person, Person];
	const network = new Network();
	// Time passes fast: every change is notified at once, instead of once per frame.
	let time = Date.now();
	const now = () => {
		time += 1000;
		return time;
	};
	const client = sdk(server.url, ada, { ...network.options, now });
	await client.connect();
	const [quay, pier] = [await client.createChannel('quay'), await client.createChannel('pier')];
	for (const id of [quay, pier]) await client.conversation(id).invite([bo.id]);
	await client.settled();
	const post = async (channel: string, text: string): Promise<string> => {
		const { ts } = await bo.call('chat.postMessage', { channel, text });
		await client.settled();
		return ts;
	};
	return { client, network, ada, bo, quay, pier, post };
}

/** A component that records the result of its hook each time it renders. */
function noting<T>(hook: () => T) {
	const drawn: T[] = [];
	const Component = (): ReactNode => {
		drawn.push(hook());
		return null;
	};
	return { drawn, Component, last: () => drawn.at(-1) as T };
}

const within = (client: TidemarkClient, ...components: (() => ReactNode)[]) =>
	createElement(
		TidemarkProvider,
		{ client },
		...components.map((component, index) => createElement(component, { key: index })),
	);

test('useInbox, useConversation and useBadge update with events', async () => {
	const { client, ada, quay, post } = await stage();
	const inbox = noting(useInbox);
	const badge = noting(useBadge);
	const conversation = noting(() => useConversation(quay));
	const page = await draw(within(client, inbox.Component, badge.Component, conversation.Component));
	await page.act(() => client.settled());
	expect(conversation.last()).toMatchObject({ isLoaded: true, messages: [] });
	await page.act(() => post(quay, `<@${ada.id}> hello`));
	expect(badge.last()).toBe(1);
	expect(inbox.last()[0]).toMatchObject({ id: quay, unreadCount: 1, mentionCount: 1 });
	expect(conversation.last().messages).toMatchObject([{ text: `<@${ada.id}> hello` }]);
	expect(conversation.last().conversation).toMatchObject({ unreadCount: 1 });
	await page.act(() => client.conversation(quay).mark());
	expect(badge.last()).toBe(0);
	expect(conversation.last().conversation?.unreadCount).toBe(0);
	await page.unmount();
	client.disconnect();
});

test('components do not re-render for unrelated events', async () => {
	const { client, quay, pier, post } = await stage();
	const badge = noting(useBadge);
	const there = noting(() => useConversation(pier));
	const connection = noting(useConnection);
	const page = await draw(within(client, badge.Component, there.Component, connection.Component));
	await page.act(() => client.settled());
	const before = [badge, there, connection].map(({ drawn }) => drawn.length);
	await page.act(() => post(quay, 'hello'));
	expect([badge, there, connection].map(({ drawn }) => drawn.length)).toEqual(before);
	await page.unmount();
	client.disconnect();
});

test('the user’s own message is rendered at once, before the server has it', async () => {
	const { client, quay, network } = await stage();
	const shown = noting(() => useConversation(quay).messages.map(({ text, status }) => `${text} ${status}`));
	const page = await draw(within(client, shown.Component));
	await page.act(() => client.settled());
	network.lose('chat.postMessage', 'before', 1);
	let posting: Promise<unknown> | undefined;
	await page.act(() => {
		posting = client.conversation(quay).post('hello');
	});
	expect(shown.last()).toEqual(['hello sending']);
	await page.act(() => posting);
	expect(shown.last()).toEqual(['hello sent']);
	await page.unmount();
	client.disconnect();
});

test('useThreads, useUser and useSnapshot update', async () => {
	const { client, bo, quay, post } = await stage();
	const root = await post(quay, 'root');
	const thread = noting(() => useThread(quay, root));
	const threads = noting(useThreads);
	const user = noting(() => useUser(bo.id));
	const snapshot = noting(useSnapshot);
	const page = await draw(
		within(client, thread.Component, threads.Component, user.Component, snapshot.Component),
	);
	await page.act(async () => {
		await client.thread(quay, root).reply('reply');
		await client.settled();
	});
	expect(thread.last()).toMatchObject({
		root: { text: 'root' },
		replies: [{ text: 'reply' }],
		isFollowing: true,
	});
	expect(threads.last().threads).toMatchObject([{ channel: quay, threadTs: root }]);
	expect(user.last()).toMatchObject({ id: bo.id, name: bo.name });
	expect(snapshot.last()).toBe(client.getSnapshot());
	await page.unmount();
	client.disconnect();
});

test('useUser updates after an outage during which the user was renamed', async () => {
	const { client, network, bo } = await stage();
	const user = noting(() => useUser(bo.id));
	// This component selects all users, so it reads the user only while it renders.
	const name = noting(() => useSelected(({ users }) => users).get(bo.id)?.realName);
	const page = await draw(within(client, user.Component));
	await page.act(() => until(client, ({ users }) => users.has(bo.id)));
	network.goOffline();
	await bo.call('users.profile.set', { profile: { real_name: 'Bo Renamed' } });
	network.goOnline();
	await page.act(() => eventually(async () => expect(user.last()?.realName).toBe('Bo Renamed')));
	await page.unmount();

	const other = await draw(within(client, name.Component));
	network.goOffline();
	await bo.call('users.profile.set', { profile: { real_name: 'Bo Again' } });
	network.goOnline();
	await other.act(() => eventually(async () => expect(name.last()).toBe('Bo Again')));
	await other.unmount();
	client.disconnect();
});

test('useFileLink returns no link of another file', async () => {
	const { client, quay } = await stage();
	const sources = ['one', 'two'].map((text) => ({ content: new Blob([text]), name: `${text}.txt` }));
	const [one, two] = await client.uploadFiles(sources, { channel: quay });
	const links = await Promise.all([client.fileLink(one?.id ?? ''), client.fileLink(two?.id ?? '')]);
	let choose: (id: string) => void = () => undefined;
	const link = noting(() => {
		const [id, setId] = useState(one?.id ?? '');
		choose = setId;
		return useFileLink(id);
	});
	const page = await draw(within(client, link.Component));
	expect(link.last()).toEqual(links[0]);
	const before = link.drawn.length;
	await page.act(() => choose(two?.id ?? ''));
	expect(link.last()).toEqual(links[1]);
	expect(link.drawn.slice(before)).not.toContainEqual(links[0]);
	await page.unmount();
	client.disconnect();
});

test('in strict mode, which mounts everything twice, no listener is left after unmounting', async () => {
	const { client, quay, post } = await stage();
	const shown = noting(() => useConversation(quay));
	const page = await draw(createElement(StrictMode, null, within(client, shown.Component)));
	await page.act(() => post(quay, 'hello'));
	expect(shown.last().messages).toMatchObject([{ text: 'hello' }]);
	await page.unmount();
	const before = shown.drawn.length;
	await post(quay, 'nobody is there');
	expect(shown.drawn).toHaveLength(before);
	client.disconnect();
});

test('server rendering shows the known state; a missing provider is named in the error', async () => {
	const { client } = await stage();
	const Count = () => createElement('b', null, useInbox().length);
	expect(renderToString(within(client, Count))).toBe('<b>2</b>');
	const Lost = () => createElement('b', null, useClient().getSnapshot().badge);
	expect(() => renderToString(createElement(Lost))).toThrow('TidemarkProvider');
	client.disconnect();
});
