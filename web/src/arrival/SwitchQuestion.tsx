import { useEffect, useState } from 'react';
import { Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { holderOf } from './calls.ts';

interface Props {
	readonly kept: string;
	readonly linked: string;
	/** Null: the stored session stays. */
	readonly onSettled: (token: string | null) => void;
}

/** Asks whether to switch when a link brings another token than the stored one. */
export function SwitchQuestion({ kept, linked, onSettled }: Props) {
	const [names, setNames] = useState<{ kept: string; linked: string } | null>(null);
	useEffect(() => {
		const look = async () => {
			const [mine, other] = await Promise.all([holderOf(kept), holderOf(linked)]);
			// If one of the two tokens does not work, use the other without asking.
			if (!mine) onSettled(linked);
			else if (!other) onSettled(null);
			else setNames({ kept: `${mine.user} in ${mine.team}`, linked: `${other.user} in ${other.team}` });
		};
		look().catch(() => onSettled(null));
	}, [kept, linked, onSettled]);
	if (!names) return <Loading label="Checking the link" />;
	return (
		<main className="sign-in">
			<section>
				<Wave />
				<h1>Switch account?</h1>
				<p>
					You are signed in as <b dir="auto">{names.kept}</b>. This link signs you in as{' '}
					<b dir="auto">{names.linked}</b>.
				</p>
				<button type="button" className="button primary" onClick={() => onSettled(null)}>
					Stay signed in as {names.kept}
				</button>
				<button type="button" className="button" onClick={() => onSettled(linked)}>
					Switch to {names.linked}
				</button>
			</section>
		</main>
	);
}
