import { type FormEvent, useId, useState } from 'react';
import { errorText } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';

interface Props {
	readonly rejection: string | null;
	readonly onSignIn: (token: string) => void;
}

export function SignIn({ rejection, onSignIn }: Props) {
	const id = useId();
	const [token, setToken] = useState('');
	const submit = (event: FormEvent) => {
		event.preventDefault();
		if (token.trim()) onSignIn(token.trim());
	};
	return (
		<main className="sign-in">
			<form onSubmit={submit}>
				<Wave />
				<h1>Tidemark</h1>
				<p>
					Open the invite link that you received, or sign in with a token. In the demo, open one of the links
					that the server printed when it started.
				</p>
				<label htmlFor={id}>Token</label>
				<input
					id={id}
					className="field"
					// biome-ignore lint/a11y/noAutofocus: it is the only thing to do here
					autoFocus
					type="password"
					autoComplete="current-password"
					placeholder="xoxp-…"
					value={token}
					aria-invalid={rejection !== null}
					aria-describedby={rejection ? `${id}-rejection` : undefined}
					onChange={({ target }) => setToken(target.value)}
				/>
				{rejection && (
					<p id={`${id}-rejection`} className="rejection" role="alert">
						{errorText(rejection)}
					</p>
				)}
				<button type="submit" className="button primary" disabled={token.trim() === ''}>
					Sign in
				</button>
				<p className="sign-in-foot">
					Do you run this server? <a href="/admin">Invite people</a> or <a href="/ops">see its status</a>.
				</p>
			</form>
		</main>
	);
}
