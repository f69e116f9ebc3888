import { useEffect, useState } from 'react';
import { toast } from '../session/toast.tsx';
import { Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { identityOf } from './calls.ts';

interface Props {
	/** The token stored in this browser, and the one in the link. */
	readonly stored: string;
	readonly linked: string;
	/** Called with the token to switch to, or with null to keep the stored one. */
	readonly onSettled: (token: string | null) => void;
}

/** Asks whether to switch accounts when the token in a link is not the stored one. */
export function SwitchQuestion({ stored, linked, onSettled }: Props) {
	const [names, setNames] = useState<{ stored: string; linked: string } | null>(null);
	useEffect(() => {
		const stay = (why: string) => {
			toast(`${why} You are still signed in as before.`);
			onSettled(null);
		};
		const look = async () => {
			const [mine, other] = await Promise.all([identityOf(stored), identityOf(linked)]);
			// If only one of the two tokens works, use it without asking.
			if (!mine) onSettled(linked);
			else if (!other) stay('The link did not sign you in: its token does not work. Ask for a new link.');
			else setNames({ stored: `${mine.user} in ${mine.team}`, linked: `${other.user} in ${other.team}` });
		};
		look().catch(() => stay('The link could not be checked. Open it again in a moment.'));
	}, [stored, linked, onSettled]);
	if (!names) return <Loading label="Checking the link" />;
	return (
		<main className="sign-in">
			<section>
				<Wave />
				<h1>Switch account?</h1>
				<p>
					You are signed in as <b dir="auto">{names.stored}</b>. This link signs you in as{' '}
					<b dir="auto">{names.linked}</b>.
				</p>
				<button type="button" className="button primary" onClick={() => onSettled(null)}>
					Stay signed in as {names.stored}
				</button>
				<button type="button" className="button" onClick={() => onSettled(linked)}>
					Switch to {names.linked}
				</button>
			</section>
		</main>
	);
}
