import { type FormEvent, useId, useState } from 'react';

/** Creates an invite link. The optional note says who the link is for; the invited person does not see it. */
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
				placeholder="Optional note for you, such as a name"
				value={label}
				onChange={({ target }) => setLabel(target.value)}
			/>
			<button type="submit" className="button primary">
				Create an invite link
			</button>
		</form>
	);
}
