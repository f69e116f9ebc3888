import { timingSafeEqual } from 'node:crypto';
import { actionOf, blocksIn, elementsOf, stateOf } from '../../../apps/blocks.ts';
import type { App } from '../../../engine/ports/apps.ts';
import { settingsOf } from '../../../model/app-manifest.ts';
import { Rejection } from '../../../model/errors.ts';
import { formatTs, parseTs } from '../../../model/ts.ts';
import { type JsonObject, wireMessage } from '../../../protocol/objects.ts';
import { signatureOf } from '../../apps/ephemeral.ts';
import { responseUrl } from '../../apps/hooks.ts';
import { appOfTeam, channelNameOf, interactionFields } from '../../apps/interaction.ts';
import { issuePass } from '../../apps/passes.ts';
import { viewOfUser, wireView } from '../../apps/views.ts';
import { readableConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { type Argument, required, withDefault } from '../arguments.ts';
import { type UserCall, userMethod } from '../method.ts';

/** Sends what a user does with an interactive block (a button, a select …) to the app that posted it. */

const NONE: JsonObject = {};
/** Its `type` is `message` (with `channel_id`, `message_ts`) or `view` (with `view_id`). */
const container = required<JsonObject>({
	expects: 'a JSON object with type message or view',
	parse: (value, name) => {
		const found = type.object('invalid_arguments').parse(value, name);
		return found?.type === 'message' || found?.type === 'view' ? found : undefined;
	},
});
const actions = required<readonly JsonObject[]>({
	expects: 'a JSON array of one action, with block_id and action_id',
	parse: (value, name) => {
		const found = type
			.objects({ bad: 'invalid_arguments', max: 1, tooMany: 'invalid_arguments' })
			.parse(value, name);
		return found?.length === 1 ? found : undefined;
	},
});
const optionalObject: Argument<JsonObject> = withDefault(
	type.object('invalid_arguments') as Argument<JsonObject>,
	NONE,
);

/** The message or view of an action: its app, and the part of the payload that describes it. */
interface ActionSource {
	readonly app: App;
	readonly blocks: readonly JsonObject[];
	readonly payload: JsonObject;
}

export const blocksActions = userMethod({
	limited: 'posts',
	arguments: { container, actions, state: optionalObject, message: optionalObject },
	ignored: ['client_token', 'service_id', 'service_team_id'],
	run: async (args, call) => {
		const [given = NONE] = args.actions;
		const { app, blocks, payload } = await sourceOf(call, args.container, args.message);
		const element = elementsOf(blocks).find(
			({ blockId, actionId }) => blockId === given.block_id && actionId === given.action_id,
		);
		if (!element)
			throw new Rejection('action_not_found', 'actions: no element has this block_id and action_id');
		const at = formatTs(call.services.clock.next());
		await call.services.appRequests.ask(app, 'interactive', {
			type: 'block_actions',
			...(await interactionFields(call, app, viewIn(args.container))),
			...payload,
			state: stateOf(blocks, valuesIn(args.state)),
			actions: [actionOf(element, given, at)],
		});
		return {};
	},
});

/** The options of a select that the app supplies. */
export const blocksSuggestions = userMethod({
	arguments: {
		container,
		block_id: type.text({ max: 255, takesEmpty: false }),
		action_id: type.text({ max: 255, takesEmpty: false }),
		value: withDefault(type.text({ max: 255 }), ''),
		message: optionalObject,
	},
	run: async (args, call) => {
		const { app, blocks, payload } = await sourceOf(call, args.container, args.message);
		const isThere = elementsOf(blocks).some(
			({ blockId, actionId }) => blockId === args.block_id && actionId === args.action_id,
		);
		if (!isThere)
			throw new Rejection(
				'action_not_found',
				'block_id, action_id: no element has this block_id and action_id',
			);
		const { optionsUrl } = settingsOf(JSON.parse(app.manifest));
		const answer = await call.services.appRequests.ask(
			app,
			'interactive',
			{
				type: 'block_suggestion',
				...(await interactionFields(call, app)),
				...payload,
				block_id: args.block_id,
				action_id: args.action_id,
				value: args.value,
			},
			optionsUrl,
		);
		return {
			options: answer?.options ?? [],
			...(answer?.option_groups ? { option_groups: answer.option_groups } : {}),
		};
	},
});

const viewIn = ({ view_id: id }: JsonObject): string | undefined => (typeof id === 'string' ? id : undefined);

const valuesIn = ({ values }: JsonObject): JsonObject =>
	typeof values === 'object' && values !== null && !Array.isArray(values) ? (values as JsonObject) : NONE;

const textIn = (value: unknown): string => type.asText(value) ?? '';

const sourceOf = (call: UserCall, source: JsonObject, message: JsonObject): Promise<ActionSource> => {
	if (source.type === 'view') return viewSource(call, source);
	return source.is_ephemeral === true ? ephemeralSource(call, source, message) : messageSource(call, source);
};

async function viewSource(call: UserCall, { view_id: id }: JsonObject): Promise<ActionSource> {
	const view = await viewOfUser(call, textIn(id));
	const app = await appOfTeam(call, view.app);
	const wire = wireView(view, app);
	return {
		app,
		blocks: blocksIn(JSON.parse(view.body)),
		payload: { container: { type: 'view', view_id: view.id }, view: wire },
	};
}

async function messageSource(call: UserCall, { channel_id, message_ts }: JsonObject): Promise<ActionSource> {
	const { services, caller } = call;
	const channel = textIn(channel_id);
	const conversation = await readableConversation(call, channel);
	const ts = parseTs(textIn(message_ts)) ?? 0;
	const [message] = await services.history.messages(channel, [ts]);
	if (!message || message.deleted) throw new Rejection('message_not_found', 'container: no such message');
	const app = await services.apps.appOfBot(message.user);
	if (!app) throw new Rejection('app_not_found', 'container: no app posted this message');
	const wire = wireMessage(message, caller.team);
	return {
		app,
		blocks: blocksIn(wire),
		payload: {
			container: { type: 'message', message_ts: formatTs(ts), channel_id: channel, is_ephemeral: false },
			channel: { id: channel, name: channelNameOf(conversation) },
			message: wire,
			response_url: await responseFor(call, app, { channel, ts: formatTs(ts), ephemeral: false }),
		},
	};
}

/** Ephemeral messages are not stored: the client returns the message with its signature. */
async function ephemeralSource(
	call: UserCall,
	source: JsonObject,
	message: JsonObject,
): Promise<ActionSource> {
	const channel = textIn(source.channel_id);
	const conversation = await readableConversation(call, channel);
	const app = await appOfTeam(call, textIn(message.app_id));
	const ts = textIn(message.ts);
	const blocks = blocksIn(message);
	const about = { channel, user: call.caller.user.id, ts, blocks };
	const expected = Buffer.from(await signatureOf(call.services, app, about));
	const given = Buffer.from(textIn(message.signature));
	if (given.length !== expected.length || !timingSafeEqual(given, expected))
		throw new Rejection('message_not_found', 'message: its signature does not match');
	return {
		app,
		blocks,
		payload: {
			container: { type: 'message', message_ts: ts, channel_id: channel, is_ephemeral: true },
			channel: { id: channel, name: channelNameOf(conversation) },
			response_url: await responseFor(call, app, { channel, ts, ephemeral: true }),
		},
	};
}

async function responseFor(
	{ services, caller }: UserCall,
	app: App,
	where: { readonly channel: string; readonly ts: string; readonly ephemeral: boolean },
): Promise<string> {
	const pass = { team: caller.team, app: app.id, user: caller.user.id, ...where };
	return responseUrl(await issuePass(services, 'response', pass));
}
