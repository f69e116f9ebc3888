import { ApiError } from '@tidemark/client';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { go, toConversation } from '../session/route.ts';
import { keptToken } from '../session/token.ts';
import { Loading, sayError } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { acceptInvite, holderOf, type Invitation, lookAtInvite } from './calls.ts';
import { deviceName } from './device-name.ts';

interface Props {
	readonly invite: string;
	/** Null: the person does not use the link. */
	readonly onSettled: (token: string | null) => void;
}

const codeOf = (error: unknown): string => (error instanceof ApiError ? error.code : 'network_error');

function titleOf(invitation: Invitation | null): string {
	if (!invitation) return 'This link does not work';
	return `${invitation.user ? 'Sign in to' : 'Join'} ${invitation.team.name}`;
}

/** The page of an invite link: shows the workspace, asks for a name, signs in. */
export function AcceptInvite({ invite, onSettled }: Props) {
	const id = useId();
	const [invitation, setInvitation] = useState<Invitation | null>(null);
	const [kept, setKept] = useState<string | null>(null);
	const [name, setName] = useState('');
	const [refusal, setRefusal] = useState<string | null>(null);
	const [isBusy, setBusy] = useState(false);
	useEffect(() => {
		lookAtInvite(invite).then(setInvitation, (error: unknown) => setRefusal(codeOf(error)));
		const token = keptToken();
		if (token)
			holderOf(token).then(
				(holder) => setKept(holder && `${holder.user} in ${holder.team}`),
				() => undefined,
			);
	}, [invite]);
	const accept = async (event: FormEvent) => {
		event.preventDefault();
		setBusy(true);
		setRefusal(null);
		try {
			const { token, general_channel: general } = await acceptInvite(
				invite,
				name.trim(),
				deviceName(navigator.userAgent),
			);
			// A new user starts in the channel that everybody is in.
			if (general) go(toConversation(general));
			onSettled(token);
		} catch (error) {
			setRefusal(codeOf(error));
			setBusy(false);
		}
	};
	if (!invitation && refusal === null) return <Loading label="Checking the invite" />;
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
							aria-describedby={refusal ? `${id}-refusal` : undefined}
							onChange={({ target }) => setName(target.value)}
						/>
					</>
				)}
				{kept && invitation && (
					<p className="hint">You are signed in as {kept}. Joining signs you out of it here.</p>
				)}
				{refusal && (
					<p id={`${id}-refusal`} className="refusal" role="alert">
						{sayError(refusal)}
					</p>
				)}
				{invitation && (
					<button
						type="submit"
						className="button primary"
						// biome-ignore lint/a11y/noAutofocus: without a name to enter, it is the only thing to do here
						autoFocus={known !== undefined}
						disabled={isBusy || (!known && name.trim() === '')}
					>
						{known ? 'Sign in' : 'Join'}
					</button>
				)}
				{(kept || !invitation) && (
					<button type="button" className="button" onClick={() => onSettled(null)}>
						{kept ? `Stay signed in as ${kept}` : 'Sign in another way'}
					</button>
				)}
			</form>
		</main>
	);
}
