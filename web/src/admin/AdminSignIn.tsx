import { ApiError, createClient } from '@tidemark/client';
import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { sayError } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';

const KEY = 'tidemark.admin';

export const signOut = (): void => sessionStorage.removeItem(KEY);

/**
 * Null: the token is the administrator's. Calls an administrator's method without its arguments, which the server reports only to the
 * administrator. Changes nothing.
 */
async function refusalOf(token: string): Promise<string | null> {
	try {
		await createClient({ token }).call('admin.teams.create');
		return null;
	} catch (error) {
		const code = error instanceof ApiError ? error.code : 'network_error';
		return code === 'missing_argument' ? null : code;
	}
}

/** The token stored for this tab; empty if nobody signed in. */
export const adminToken = (): string => sessionStorage.getItem(KEY) ?? '';

interface Props {
	readonly title: string;
	readonly onAdmin: () => void;
}

export function AdminSignIn({ title, onAdmin }: Props) {
	const id = useId();
	const [token, setToken] = useState('');
	const [refusal, setRefusal] = useState<string | null>(null);
	const check = useCallback(
		async (given: string) => {
			const refused = await refusalOf(given);
			if (refused === null) {
				sessionStorage.setItem(KEY, given);
				onAdmin();
			} else {
				signOut();
				setRefusal(refused);
			}
		},
		[onAdmin],
	);
	// Stored for this tab alone, because this token can do everything.
	useEffect(() => {
		const kept = sessionStorage.getItem(KEY);
		if (kept) void check(kept);
	}, [check]);
	const submit = (event: FormEvent) => {
		event.preventDefault();
		if (token.trim()) void check(token.trim());
	};
	return (
		<main className="sign-in">
			<form onSubmit={submit}>
				<Wave />
				<h1>{title}</h1>
				<p>
					Sign in with the administrator’s token. It is the value of TIDEMARK_ADMIN_TOKEN; if that is not set,
					the server created a token in the file admin-token of its data directory.
				</p>
				<label htmlFor={id}>Administrator’s token</label>
				<input
					id={id}
					className="field"
					// biome-ignore lint/a11y/noAutofocus: it is the only thing to do here
					autoFocus
					type="password"
					autoComplete="off"
					placeholder="xoxa-…"
					value={token}
					onChange={({ target }) => setToken(target.value)}
				/>
				{refusal && (
					<p className="refusal" role="alert">
						{refusal === 'not_allowed_token_type'
							? 'This is not the administrator’s token.'
							: sayError(refusal)}
					</p>
				)}
				<button type="submit" className="button primary" disabled={token.trim() === ''}>
					Sign in
				</button>
				<p className="sign-in-foot">
					<a href="/">Back to Tidemark</a>
				</p>
			</form>
		</main>
	);
}
