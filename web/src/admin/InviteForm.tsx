import { type FormEvent, useId, useState } from 'react';

/** Makes a link for somebody new. Who it is for may be noted: the link itself does not say. */
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
				placeholder="A note for you, optional"
				value={label}
				onChange={({ target }) => setLabel(target.value)}
			/>
			<button type="submit" className="button primary">
				Make an invite link
			</button>
		</form>
	);
}
