import { type Fields, fieldsIn, isFields, listIn, stringIn } from '../message/rich/json.ts';

/** The interactive elements of blocks (buttons, selects, inputs), with the ids that the server uses. */

export interface Element {
	readonly blockId: string;
	readonly actionId: string;
	readonly type: string;
	readonly label: string;
	readonly options: readonly { readonly value: string; readonly label: string; readonly whole: Fields }[];
	readonly element: Fields;
	readonly isInput: boolean;
}

const textOf = (value: unknown): string => stringIn(fieldsIn(value).text);

/** Without an id from the app, the id is the index: the third block is `2`, its second element `2-1`. */
export function elementsIn(blocks: readonly unknown[]): Element[] {
	return blocks.flatMap((value, index) => {
		const block = fieldsIn(value);
		const blockId = stringIn(block.block_id) || String(index);
		const isInput = block.type === 'input';
		return [block.accessory, block.element, ...listIn(block.elements)]
			.filter(isFields)
			.map((element, place) => {
				return {
					blockId,
					actionId: stringIn(element.action_id) || `${index}-${place}`,
					type: stringIn(element.type),
					label: isInput ? textOf(block.label) : textOf(element.text) || textOf(element.placeholder),
					options: listIn(element.options).map((option) => ({
						value: stringIn(fieldsIn(option).value),
						label: textOf(fieldsIn(option).text),
						whole: fieldsIn(option),
					})),
					element,
					isInput,
				};
			});
	});
}

const USABLE = new Set(['button', 'static_select']);

/** The buttons and selects that this page supports. A button with a URL is rendered as a link instead. */
export const usableIn = (blocks: readonly unknown[]): Element[] =>
	elementsIn(blocks).filter(
		({ type, isInput, element }) => !isInput && USABLE.has(type) && stringIn(element.url) === '',
	);

const isUsable = (value: unknown): boolean => {
	const { type, url } = fieldsIn(value);
	return USABLE.has(stringIn(type)) && stringIn(url) === '';
};

/** The blocks without the elements that are rendered as controls. */
export const withoutUsable = (blocks: readonly unknown[]): readonly unknown[] =>
	blocks.flatMap((value) => {
		const block = fieldsIn(value);
		const elements = listIn(block.elements).filter((element) => !isUsable(element));
		if (block.type === 'actions') return elements.length > 0 ? [{ ...block, elements }] : [];
		return [isUsable(block.accessory) ? { ...block, accessory: undefined } : value];
	});
