import { type FormEvent, useId, useState } from 'react';

/** Creates an invite link, with an optional note who it is for: the link itself does not show it. */
export function InviteForm({ onInvite }: { readonly onInvite: (label: string) => void }) {
	const id = useId();
	const [label, setLabel] = useState('');
	const submit = (event: FormEvent) => {
		event.preventDefault();
		onInvite(label.trim());
		setLabel('');
	};
	return (
		<form className="name-form" onSubmit={submit}>
			<label htmlFor={id}>Invite link for</label>
			<input
				id={id}
				className="field"
				dir="auto"
				maxLength={80}
				autoComplete="off"
				placeholder="A name or a note for you, optional"
				value={label}
				onChange={({ target }) => setLabel(target.value)}
			/>
			<button type="submit" className="button primary">
				Make an invite link
			</button>
		</form>
	);
}
