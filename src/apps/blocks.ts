import { isJsonObject, type Json, type JsonObject } from '../protocol/objects.ts';

/**
 * Finds the interactive elements of Block Kit by their ids. Without an id from the app, the id is the index: the
 * third block is `2`, its second element `2-1`. Clients use the same rule.
 */

export interface FoundElement {
	readonly blockId: string;
	readonly actionId: string;
	readonly element: JsonObject;
}

const textOr = (value: Json | undefined, otherwise: string): string =>
	typeof value === 'string' && value !== '' ? value : otherwise;

export function elementsOf(blocks: readonly JsonObject[]): FoundElement[] {
	return blocks.flatMap((block, index) => {
		const blockId = textOr(block.block_id, String(index));
		const elements = [
			block.accessory,
			block.element,
			...(Array.isArray(block.elements) ? block.elements : []),
		];
		return elements.filter(isJsonObject).map((element, place) => ({
			blockId,
			actionId: textOr(element.action_id, `${index}-${place}`),
			element,
		}));
	});
}

/** The fields with which a client reports the user's choice. */
const CHOSEN = [
	'value',
	'selected_option',
	'selected_options',
	'selected_user',
	'selected_users',
	'selected_channel',
	'selected_channels',
	'selected_conversation',
	'selected_conversations',
	'selected_date',
	'selected_time',
	'selected_date_time',
	'rich_text_value',
] as const;

/** The action as the app receives it: the element is the app's own, the choice is the user's. */
export function actionOf(
	{ blockId, actionId, element }: FoundElement,
	given: JsonObject,
	ts: string,
): JsonObject {
	const type = textOr(element.type, 'button');
	const isButton = type === 'button' || type === 'workflow_button';
	const chosen = isButton ? {} : chosenOf(given);
	return {
		type,
		action_id: actionId,
		block_id: blockId,
		...(isButton && element.text !== undefined ? { text: element.text } : {}),
		...(isButton && element.value !== undefined ? { value: element.value } : {}),
		...(element.placeholder === undefined ? {} : { placeholder: element.placeholder }),
		...chosen,
		action_ts: ts,
	};
}

function chosenOf(given: JsonObject): JsonObject {
	return Object.fromEntries(
		CHOSEN.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
	);
}

/** The entered values of a form, limited to inputs that it has. */
export function stateOf(blocks: readonly JsonObject[], given: JsonObject): JsonObject {
	// Maps, because apps choose the ids: one of them may be `__proto__`.
	const values = new Map<string, Map<string, JsonObject>>();
	for (const { blockId, actionId, element } of elementsOf(blocks)) {
		const entered = ownOf(ownOf(given, blockId), actionId);
		if (!isJsonObject(entered)) continue;
		const ofBlock = values.get(blockId) ?? new Map<string, JsonObject>();
		ofBlock.set(actionId, { type: textOr(element.type, 'plain_text_input'), ...chosenOf(entered) });
		values.set(blockId, ofBlock);
	}
	return {
		values: Object.fromEntries([...values].map(([block, entries]) => [block, Object.fromEntries(entries)])),
	};
}

const ownOf = (holder: Json | undefined, name: string): Json | undefined =>
	isJsonObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;

export const blocksIn = (holder: JsonObject): readonly JsonObject[] =>
	Array.isArray(holder.blocks) ? holder.blocks.filter(isJsonObject) : [];
