import { ApiError } from '@tidemark/client';
import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { go, toConversation } from '../session/route.ts';
import { storedToken } from '../session/token.ts';
import { errorText, Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { acceptInvite, fetchInvite, type Invitation, identityOf } from './calls.ts';
import { deviceName } from './device-name.ts';

interface Props {
	readonly invite: string;
	/** Called with the new token, or with null if the person did not use the link. */
	readonly onSettled: (token: string | null) => void;
}

const codeOf = (error: unknown): string => (error instanceof ApiError ? error.code : 'network_error');

/** Errors that every further attempt would get too. */
const isFinal = (code: string): boolean => code.startsWith('invite_') || code === 'user_disabled';

function titleOf(invitation: Invitation | null): string {
	if (!invitation) return 'This link could not be opened';
	return `${invitation.user ? 'Sign in to' : 'Join'} ${invitation.team.name}`;
}

/** The page of an invite link: shows the workspace, asks for a name, signs in. */
export function AcceptInvite({ invite, onSettled }: Props) {
	const id = useId();
	const [invitation, setInvitation] = useState<Invitation | null>(null);
	const [currentAccount, setCurrentAccount] = useState<string | null>(null);
	const [name, setName] = useState('');
	const [rejection, setRejection] = useState<string | null>(null);
	const [isBusy, setBusy] = useState(false);
	const load = useCallback(async () => {
		setRejection(null);
		try {
			// Checked first, because the page must not offer to switch accounts without naming the current one.
			const token = storedToken();
			const identity = token === null ? null : await identityOf(token);
			setCurrentAccount(identity && `${identity.user} in ${identity.team}`);
			setInvitation(await fetchInvite(invite));
		} catch (error) {
			setRejection(codeOf(error));
		}
	}, [invite]);
	useEffect(() => void load(), [load]);
	const accept = async (event: FormEvent) => {
		event.preventDefault();
		setBusy(true);
		setRejection(null);
		try {
			const { token, general_channel: general } = await acceptInvite(
				invite,
				name.trim(),
				deviceName(navigator.userAgent),
			);
			// A new user starts in the general channel.
			if (general) go(toConversation(general));
			onSettled(token);
		} catch (error) {
			setRejection(codeOf(error));
			setBusy(false);
		}
	};
	if (!invitation && rejection === null) return <Loading label="Checking the invite" />;
	const known = invitation?.user;
	return (
		<main className="sign-in">
			<form onSubmit={accept}>
				<Wave />
				<h1 dir="auto">{titleOf(invitation)}</h1>
				{known && (
					<p>
						This link signs you in as <b dir="auto">{known.real_name || known.name}</b>.
					</p>
				)}
				{invitation && !known && (
					<>
						<label htmlFor={id}>Your name</label>
						<input
							id={id}
							className="field"
							// biome-ignore lint/a11y/noAutofocus: it is the only thing to do here
							autoFocus
							dir="auto"
							autoComplete="name"
							maxLength={80}
							placeholder="Mia Berg"
							value={name}
							aria-describedby={rejection ? `${id}-rejection` : undefined}
							onChange={({ target }) => setName(target.value)}
						/>
					</>
				)}
				{currentAccount && invitation && (
					<p className="hint">
						You are signed in as {currentAccount}. If you continue, this browser switches to the new account.
					</p>
				)}
				{rejection && (
					<p id={`${id}-rejection`} className="rejection" role="alert">
						{errorText(rejection)}
					</p>
				)}
				{invitation && (
					<button
						type="submit"
						className="button primary"
						// biome-ignore lint/a11y/noAutofocus: without a name to enter, this button is the only thing to use
						autoFocus={known !== undefined}
						disabled={isBusy || (!known && name.trim() === '')}
					>
						{known ? 'Sign in' : 'Join'}
					</button>
				)}
				{!invitation && rejection && !isFinal(rejection) && (
					<button type="button" className="button primary" onClick={load}>
						Try again
					</button>
				)}
				{(currentAccount || !invitation) && (
					<button type="button" className="button" onClick={() => onSettled(null)}>
						{currentAccount ? `Stay signed in as ${currentAccount}` : 'Sign in another way'}
					</button>
				)}
			</form>
		</main>
	);
}
