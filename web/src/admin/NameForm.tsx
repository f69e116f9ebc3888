import { type FormEvent, useId, useState } from 'react';

interface Props {
	readonly label: string;
	readonly button: string;
	readonly onName: (name: string) => void;
}

/** Asks for a name, and is empty again once it was given. */
export function NameForm({ label, button, onName }: Props) {
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
