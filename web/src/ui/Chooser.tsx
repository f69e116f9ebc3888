import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react';

/**
 * A text box with choices below it. The first choice is preselected; arrows move, Enter selects, and the focus stays in the box.
 * The list keeps its height, so that nothing moves while the user types.
 */

export interface Choice {
	readonly key: string;
	readonly icon: ReactNode;
	readonly name: ReactNode;
	readonly hint?: string;
	readonly end?: ReactNode;
	readonly isStrong?: boolean;
	readonly run: () => void;
}

export interface ChoiceGroup {
	readonly heading: string;
	readonly choices: readonly Choice[];
}

interface Props {
	/** The label of the text box, and its placeholder. */
	readonly label: string;
	readonly written: string;
	readonly onWrite: (text: string) => void;
	readonly groups: readonly ChoiceGroup[];
	/** Shown if nothing is found. */
	readonly nothing: ReactNode;
}

export function Chooser({ label, written, onWrite, groups, nothing }: Props) {
	const listId = useId();
	const [chosen, setChosen] = useState(0);
	const shown = groups.filter(({ choices }) => choices.length > 0);
	const all = shown.flatMap(({ choices }) => choices);
	// The list may have become shorter.
	const at = Math.min(chosen, Math.max(0, all.length - 1));
	const idOf = (index: number): string => `${listId}-${index}`;
	const chosenId = all.length > 0 ? idOf(at) : undefined;
	useEffect(() => {
		if (chosenId) document.getElementById(chosenId)?.scrollIntoView({ block: 'nearest' });
	}, [chosenId]);

	const onKey = (event: KeyboardEvent) => {
		if (event.nativeEvent.isComposing) return;
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (step) setChosen((at + step + all.length) % Math.max(1, all.length));
		else if (event.key === 'Enter') all[at]?.run();
		else return;
		event.preventDefault();
	};
	return (
		<>
			<input
				className="field"
				type="text"
				autoComplete="off"
				spellCheck={false}
				placeholder={label}
				aria-label={label}
				role="combobox"
				aria-expanded={all.length > 0}
				aria-controls={listId}
				aria-activedescendant={chosenId}
				value={written}
				onKeyDown={onKey}
				onChange={({ target }) => {
					onWrite(target.value);
					setChosen(0);
				}}
			/>
			<div
				className="choices"
				id={listId}
				// A listbox must have options.
				{...(all.length > 0 ? { role: 'listbox', 'aria-label': label } : {})}
			>
				{shown.map(({ heading, choices }) => (
					// biome-ignore lint/a11y/useSemanticElements: a group of options in a listbox, not of fields
					<div key={heading} role="group" aria-label={heading}>
						<p className="choices-heading" aria-hidden="true">
							{heading}
						</p>
						{choices.map((choice) => {
							const index = all.indexOf(choice);
							return (
								<Option
									key={choice.key}
									id={idOf(index)}
									choice={choice}
									isChosen={index === at}
									onPoint={() => setChosen(index)}
								/>
							);
						})}
					</div>
				))}
				{all.length === 0 && <div className="choices-nothing">{nothing}</div>}
			</div>
		</>
	);
}

interface OptionProps {
	readonly id: string;
	readonly choice: Choice;
	readonly isChosen: boolean;
	/** Called when the pointer moves over the option. When keys scroll the list under a resting pointer, it is not called. */
	readonly onPoint: () => void;
}

const Option = ({ id, choice, isChosen, onPoint }: OptionProps) => (
	// biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard chooses from the text box, where the focus stays
	<div
		id={id}
		role="option"
		tabIndex={-1}
		aria-selected={isChosen}
		className={choice.isStrong ? 'unread' : ''}
		onPointerMove={onPoint}
		onPointerDown={(event) => event.preventDefault()}
		onClick={choice.run}
	>
		{choice.icon}
		<span className="choice-name">{choice.name}</span>
		{choice.hint && <span className="hint">{choice.hint}</span>}
		{choice.end}
	</div>
);
