import type { Api } from './api.ts';
import type { FileLinks } from './file-links.ts';
import type { TidemarkClient } from './public.ts';
import { uploadFiles } from './uploads.ts';
import { toDescription, toExplanation, type Wire } from './wire.ts';

/** Methods of the client that only call the API. The changes that they make arrive as events. */

type Actions = Pick<
	TidemarkClient,
	| 'setPresence'
	| 'markAll'
	| 'explain'
	| 'createChannel'
	| 'openDirect'
	| 'join'
	| 'browse'
	| 'call'
	| 'uploadFiles'
	| 'fileLink'
	| 'deleteFile'
>;

export const actionsOn = (api: Api, links: FileLinks): Actions => ({
	setPresence: async (presence) => void (await api.call('users.setPresence', { presence })),
	markAll: async () => void (await api.call('client.markAllRead')),
	explain: async () => toExplanation(await api.callIdempotent('client.explain')),
	createChannel: async (name, { isPrivate = false } = {}) =>
		(await api.call('conversations.create', { name, is_private: isPrivate })).channel.id,
	openDirect: async (users) => (await api.call('conversations.open', { users })).channel.id,
	join: async (channel) => void (await api.call('conversations.join', { channel })),
	browse: async (cursor) => {
		const args = { exclude_archived: true, limit: 200, ...(cursor ? { cursor } : {}) };
		const page = await api.callIdempotent('conversations.list', args);
		return { channels: page.channels.map(toBrowsed), cursor: page.response_metadata?.next_cursor ?? '' };
	},
	call: (method, args) => api.call(method, args),
	uploadFiles: (files, options) => uploadFiles(api, files, options),
	fileLink: (id) => links.link(id),
	deleteFile: async (file) => void (await api.call('files.delete', { file })),
});

function toBrowsed(channel: Wire) {
	const { id, name, topic, purpose } = toDescription(channel);
	return { id, name, topic, purpose, isMember: channel.is_member, memberCount: channel.num_members ?? 0 };
}
