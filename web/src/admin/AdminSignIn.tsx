import { ApiError, createClient, isTokenRejected } from '@tidemark/client';
import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { errorText } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';

const KEY = 'tidemark.admin';

export const signOut = (): void => sessionStorage.removeItem(KEY);

/**
 * Null if this is the administrator's token. Otherwise an error code: the server rejected the token, or did
 * not check it. Calls `admin.teams.create` without arguments: the server answers `missing_argument` only to
 * the administrator, and creates nothing.
 */
async function rejectionOf(token: string): Promise<string | null> {
	try {
		await createClient({ token }).call('admin.teams.create');
		return null;
	} catch (error) {
		const code = error instanceof ApiError ? error.code : 'network_error';
		return code === 'missing_argument' ? null : code;
	}
}

/** The token stored for this tab; empty if nobody is signed in. */
export const adminToken = (): string => sessionStorage.getItem(KEY) ?? '';

interface Props {
	readonly title: string;
	readonly onAdmin: () => void;
}

export function AdminSignIn({ title, onAdmin }: Props) {
	const id = useId();
	// A stored token that could not be checked can be submitted again.
	const [token, setToken] = useState(adminToken);
	const [rejection, setRejection] = useState<string | null>(null);
	const check = useCallback(
		async (given: string) => {
			const code = await rejectionOf(given);
			if (code === null) {
				sessionStorage.setItem(KEY, given);
				onAdmin();
			} else {
				if (isTokenRejected(code)) signOut();
				setRejection(code);
			}
		},
		[onAdmin],
	);
	// Stored only for this tab, because this token can do everything.
	useEffect(() => {
		const stored = adminToken();
		if (stored) void check(stored);
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
					Sign in with the administrator’s token. If TIDEMARK_ADMIN_TOKEN is set on the server, that is the
					token. Otherwise the token is in the file admin-token in the server’s data directory.
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
				{rejection && (
					<p className="rejection" role="alert">
						{rejection === 'not_allowed_token_type'
							? 'This is not the administrator’s token. The text above says where to find it.'
							: errorText(rejection)}
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
