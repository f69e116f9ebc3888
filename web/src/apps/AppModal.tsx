import { useClient } from '@tidemark/client/react';
import { type FormEvent, useId, useState } from 'react';
import { Parts } from '../message/Parts.tsx';
import { partsOf } from '../message/rich/blocks.ts';
import { type Fields, fieldsIn, listIn, stringIn } from '../message/rich/json.ts';
import { toastResult } from '../session/toast.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Controls } from './Controls.tsx';
import { type Element, elementsIn, withoutUsable } from './elements.ts';
import { closeView, useSurfaces } from './surfaces.ts';

type Values = Readonly<Record<string, Readonly<Record<string, object>>>>;
const textOf = (value: unknown): string => stringIn(fieldsIn(value).text);

/** The modal that an app has opened: its blocks, and a form with its inputs. */
export function AppModal() {
	const view = useSurfaces().views.at(-1);
	return view ? <Modal key={stringIn(view.hash)} view={view} /> : null;
}

function Modal({ view }: { readonly view: Fields }) {
	const client = useClient();
	const id = stringIn(view.id);
	const blocks = listIn(view.blocks);
	const inputs = elementsIn(blocks).filter(({ isInput }) => isInput);
	const [values, setValues] = useState<Values>({});
	const [errors, setErrors] = useState<Fields>({});
	const close = (): void => {
		closeView(id);
		toastResult(client.call('views.close', { view_id: id }));
	};
	const submit = (event: FormEvent): void => {
		event.preventDefault();
		toastResult(
			client.call('views.submit', { view_id: id, state: { values } }).then((answer) => {
				if (answer.response_action === 'errors') setErrors(fieldsIn(answer.errors));
				else if (!answer.response_action) closeView(id);
			}),
		);
	};
	const enter = ({ blockId, actionId }: Element, entered: object): void =>
		setValues({ ...values, [blockId]: { ...values[blockId], [actionId]: entered } });
	return (
		<Dialog title={textOf(view.title)} onClose={close}>
			<form className="app-form" onSubmit={submit}>
				<Parts parts={partsOf(withoutUsable(blocks).filter((block) => fieldsIn(block).type !== 'input'))} />
				<Controls blocks={blocks} container={{ type: 'view', view_id: id }} />
				{inputs.map((input) => (
					<Input
						key={`${input.blockId} ${input.actionId}`}
						input={input}
						error={stringIn(errors[input.blockId])}
						onEnter={(entered) => enter(input, entered)}
					/>
				))}
				<div className="buttons">
					<button type="button" className="button" onClick={close}>
						{textOf(view.close) || 'Cancel'}
					</button>
					{view.submit !== null && (
						<button type="submit" className="button primary">
							{textOf(view.submit) || 'Submit'}
						</button>
					)}
				</div>
			</form>
		</Dialog>
	);
}

interface InputProps {
	readonly input: Element;
	readonly error: string;
	readonly onEnter: (entered: object) => void;
}

function Input({ input, error, onEnter }: InputProps) {
	const { element, label, options, type } = input;
	const id = useId();
	return (
		<div className="app-input">
			<label htmlFor={id}>{label}</label>
			{type === 'static_select' ? (
				<select
					id={id}
					defaultValue=""
					onChange={({ target }) =>
						onEnter({ selected_option: options.find(({ value }) => value === target.value)?.whole })
					}
				>
					<option value="" disabled>
						{textOf(element.placeholder) || 'Choose'}
					</option>
					{options.map(({ value, label: shown }) => (
						<option key={value} value={value}>
							{shown}
						</option>
					))}
				</select>
			) : element.multiline === true ? (
				<textarea id={id} rows={4} onChange={({ target }) => onEnter({ value: target.value })} />
			) : (
				<input
					id={id}
					type={type === 'datepicker' ? 'date' : 'text'}
					placeholder={textOf(element.placeholder)}
					onChange={({ target }) =>
						onEnter(type === 'datepicker' ? { selected_date: target.value } : { value: target.value })
					}
				/>
			)}
			{error && (
				<span className="field-error" role="alert">
					{error}
				</span>
			)}
		</div>
	);
}
