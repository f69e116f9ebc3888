import type { User } from '../../engine/ports/store.ts';
import type { JsonObject } from '../../protocol/objects.ts';
import * as type from './argument-types.ts';
import { optional, required } from './arguments.ts';

/**
 * The name and picture under which a bot posts a message: `username`, `icon_emoji`, `icon_url`, as alert tools send
 * them. They are part of the message. Users who are not bots always post under their own name.
 */

/** Only http and https addresses are used; others are ignored. */
const iconUrl = required<string>({
	expects: 'the address of a picture',
	parse: (value) => (typeof value === 'string' && value.length <= 2000 ? value : undefined),
});

export const identityArguments = {
	username: optional(type.text({ max: 80 })),
	icon_emoji: optional(type.text({ max: 100 })),
	icon_url: optional(iconUrl),
};

export interface MessageIdentity {
	readonly subtype?: string | undefined;
	readonly username?: string | undefined;
	readonly icons?: JsonObject | undefined;
}

/** The fields that `identityOf` sets; edits keep them. */
export const IDENTITY_FIELDS = ['subtype', 'username', 'icons'] as const;

interface Given {
	readonly username: string | undefined;
	readonly icon_emoji: string | undefined;
	readonly icon_url: string | undefined;
}

export function identityOf({ isBot }: Pick<User, 'isBot'>, given: Given): MessageIdentity {
	const username = given.username?.trim();
	const icons = iconsOf(given);
	if (!isBot || (!username && !icons)) return {};
	return { subtype: 'bot_message', ...(username ? { username } : {}), ...(icons ? { icons } : {}) };
}

/** An emoji wins over a picture, as at Slack. */
function iconsOf({ icon_emoji: emoji, icon_url: url }: Given): JsonObject | undefined {
	const name = emoji?.trim().replace(/^:|:$/g, '');
	if (name) return { emoji: `:${name}:` };
	if (url === undefined || !/^https?:\/\//i.test(url)) return undefined;
	return { image_36: url, image_48: url, image_72: url };
}
