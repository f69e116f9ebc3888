import type { JsonObject } from '../../../protocol/objects.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { openMethod } from '../method.ts';

/** Slack's connectivity test: returns its arguments; needs no token. */
export const apiTest = openMethod({
	arguments: { error: optional(type.text({ max: 80 })), foo: optional(type.text({ max: 255 })) },
	run: async ({ error, foo }): Promise<JsonObject> => {
		const args = { ...(error === undefined ? {} : { error }), ...(foo === undefined ? {} : { foo }) };
		const given = Object.keys(args).length === 0 ? {} : { args };
		return error === undefined ? given : { ok: false, error, ...given };
	},
});
