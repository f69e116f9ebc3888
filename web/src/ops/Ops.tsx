import { useMemo, useState } from 'react';
import { currentTheme, toggleTheme } from '../session/theme.ts';
import { exactTime, plural } from '../ui/format.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { Chart } from './Chart.tsx';
import { CHARTS, toldBy } from './charts.ts';
import { Facts } from './Facts.tsx';
import { OpsSignIn, signOut } from './OpsSignIn.tsx';
import type { Degraded } from './readiness.ts';
import { useLooks } from './useLooks.ts';

/** How the server is: what is degraded, and lines of what it does. */
export function Ops() {
	const [isAdmin, setAdmin] = useState(false);
	const { looks, degraded, awaySince } = useLooks(isAdmin);
	const [theme, setTheme] = useState(currentTheme);
	const newest = looks.at(-1);
	const told = newest
		? CHARTS.flatMap(
				(chart) => toldBy(chart, newest)?.lines.map(({ label }) => `${chart.id} ${label}`) ?? [],
			).join('\n')
		: '';
	// The same objects for as long as the server tells of the same things.
	// biome-ignore lint/correctness/useExhaustiveDependencies: made anew when other lines are told, not with every look
	const charts = useMemo(
		() => (newest ? CHARTS.map((chart) => toldBy(chart, newest)).filter((chart) => chart !== null) : []),
		[told],
	);
	if (!isAdmin) return <OpsSignIn onAdmin={() => setAdmin(true)} />;
	return (
		<main className="ops">
			<header className="ops-head">
				<Wave />
				<h1>Operations</h1>
				<IconButton
					icon={theme === 'dark' ? 'sun' : 'moon'}
					label={theme === 'dark' ? 'Light colours' : 'Dark colours'}
					onClick={() => setTheme(toggleTheme())}
				/>
				<button
					type="button"
					className="button small"
					onClick={() => {
						signOut();
						setAdmin(false);
					}}
				>
					Sign out
				</button>
			</header>
			<Condition degraded={degraded} awaySince={awaySince} isKnown={looks.length > 0} />
			{newest && <Facts look={newest} />}
			{looks.length < 2 ? (
				<Loading label="Looking at the server" />
			) : (
				<div className="charts">
					{charts.map((chart) => (
						<Chart key={chart.id} spec={chart} looks={looks} theme={theme} />
					))}
				</div>
			)}
			<p className="hint">
				{plural(looks.length, 'look')} at /metrics, one every two seconds; ten minutes are kept in this page.
			</p>
		</main>
	);
}

interface ConditionProps {
	readonly degraded: readonly Degraded[];
	readonly awaySince: number | null;
	readonly isKnown: boolean;
}

function Condition({ degraded, awaySince, isKnown }: ConditionProps) {
	const troubles =
		awaySince === null ? degraded : [{ what: 'The server', cause: 'It does not answer.', since: awaySince }];
	if (!isKnown && awaySince === null) return null;
	return (
		<section
			className={`condition ${troubles.length > 0 ? 'bad' : 'good'}`}
			aria-label="Condition"
			aria-live="polite"
		>
			<strong>{troubles.length === 0 ? 'Everything works' : 'Degraded'}</strong>
			<ul>
				{troubles.map(({ what, cause, since }) => (
					<li key={what}>
						<b>{what}</b> {cause} <span className="hint">since {exactTime(String(since / 1000))}</span>
					</li>
				))}
			</ul>
		</section>
	);
}
