import { createClient, type TidemarkClient } from '@tidemark/client';
import { TidemarkProvider } from '@tidemark/client/react';
import { useCallback, useEffect, useState } from 'react';
import { Toast } from '../session/toast.tsx';
import { clearToken, storedToken, storeToken } from '../session/token.ts';
import { unsentStore } from '../session/unsent.ts';
import { SignIn } from './SignIn.tsx';
import { Workspace } from './Workspace.tsx';

/** Messages per request: about two screens. */
const PAGE_SIZE = 100;

/** The sign-in page, or the workspace. */
export function App() {
	const [token, setToken] = useState(storedToken);
	const [client, setClient] = useState<TidemarkClient | null>(null);
	const [rejection, setRejection] = useState<string | null>(null);

	useEffect(() => {
		if (token === null) return;
		const made = createClient({ token, pageSize: PAGE_SIZE, unsent: unsentStore });
		// For the browser's console, and for tests.
		Object.assign(globalThis, { tidemark: made });
		setClient(made);
		// The workspace shows why the client cannot connect.
		made.connect().catch(() => undefined);
		return () => made.disconnect();
	}, [token]);

	const signIn = (given: string) => {
		storeToken(given);
		setRejection(null);
		setToken(given);
	};
	const signOut = useCallback(
		(reason: string | null = null) => {
			clearToken(token);
			setToken(null);
			setClient(null);
			setRejection(reason);
		},
		[token],
	);

	if (token === null || client === null || rejection !== null)
		return token !== null && rejection === null ? null : (
			<SignIn
				rejection={rejection}
				onSignIn={(given) => {
					setToken(null);
					setClient(null);
					// In a separate step, so that signing in again with the same token is a change.
					queueMicrotask(() => signIn(given));
				}}
			/>
		);
	return (
		<TidemarkProvider client={client}>
			<Workspace onSignOut={signOut} />
			<Toast />
		</TidemarkProvider>
	);
}
