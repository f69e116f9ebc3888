import { useClient } from '@tidemark/client/react';
import { toastResult } from '../session/toast.tsx';
import { type Element, usableIn } from './elements.ts';

interface Props {
	readonly blocks: readonly unknown[];
	/** The message or view that contains the blocks, as an argument of `blocks.actions`. */
	readonly container: Readonly<Record<string, unknown>>;
	/** The whole message, if it is ephemeral. */
	readonly message?: Readonly<Record<string, unknown>>;
}

/** The buttons and selects of an app's message or view. */
export function Controls({ blocks, container, message }: Props) {
	const client = useClient();
	const elements = usableIn(blocks);
	if (elements.length === 0) return null;
	const use = ({ blockId, actionId }: Element, chosen: object): void => {
		const actions = [{ block_id: blockId, action_id: actionId, ...chosen }];
		toastResult(client.call('blocks.actions', { container, actions, ...(message ? { message } : {}) }));
	};
	return (
		<div className="app-controls">
			{elements.map((element) =>
				element.type === 'button' ? (
					<button
						key={`${element.blockId} ${element.actionId}`}
						type="button"
						className={`button ${element.element.style === 'danger' ? 'danger' : ''}`}
						onClick={() => use(element, {})}
					>
						{element.label}
					</button>
				) : (
					<select
						key={`${element.blockId} ${element.actionId}`}
						aria-label={element.label}
						defaultValue=""
						onChange={({ target }) => {
							const option = element.options.find(({ value }) => value === target.value);
							if (option) use(element, { selected_option: option.whole });
						}}
					>
						<option value="" disabled>
							{element.label}
						</option>
						{element.options.map(({ value, label }) => (
							<option key={value} value={value}>
								{label}
							</option>
						))}
					</select>
				),
			)}
		</div>
	);
}
