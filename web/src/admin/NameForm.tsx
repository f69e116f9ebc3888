import { type FormEvent, useId, useState } from 'react';

interface Props {
	readonly label: string;
	readonly button: string;
	/** True if this form is the only thing on the page. */
	readonly isFocused?: boolean;
	readonly onName: (name: string) => void;
}

/** A field for a name; cleared after the name was submitted. */
export function NameForm({ label, button, isFocused = false, onName }: Props) {
	const id = useId();
	const [name, setName] = useState('');
	const submit = (event: FormEvent) => {
		event.preventDefault();
		if (name.trim() === '') return;
		onName(name.trim());
		setName('');
	};
	return (
		<form className="name-form" onSubmit={submit}>
			<label htmlFor={id}>{label}</label>
			<input
				id={id}
				className="field"
				// biome-ignore lint/a11y/noAutofocus: this form is the only thing on the page
				autoFocus={isFocused}
				dir="auto"
				maxLength={80}
				autoComplete="off"
				value={name}
				onChange={({ target }) => setName(target.value)}
			/>
			<button type="submit" className="button" disabled={name.trim() === ''}>
				{button}
			</button>
		</form>
	);
}
