import { useMemo, useState } from 'react';
import { AdminSignIn, signOut } from '../admin/AdminSignIn.tsx';
import { currentTheme, toggleTheme } from '../session/theme.ts';
import { plural } from '../ui/format.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { Chart } from './Chart.tsx';
import { Condition } from './Condition.tsx';
import { CHARTS, exportedBy } from './charts.ts';
import { Facts } from './Facts.tsx';
import { ProcessChoice } from './ProcessChoice.tsx';
import { shownOf, troublesOf } from './processes.ts';
import { useProcesses } from './useProcesses.ts';

/** How the server is, one process of it at a time: what is degraded, and lines of what it does. */
export function Ops() {
	const [isAdmin, setAdmin] = useState(false);
	const { processes, unansweredSince } = useProcesses(isAdmin);
	const [chosen, setChosen] = useState<string | null>(null);
	const shown = shownOf(processes, chosen);
	const looks = shown?.looks ?? [];
	const now = Math.max(...processes.map(({ answeredAt }) => answeredAt));
	const troubles =
		unansweredSince === null
			? shown
				? troublesOf(shown, now)
				: []
			: [
					{
						what: 'The server',
						cause: 'The server does not answer. Check that it is running.',
						since: unansweredSince,
					},
				];
	const [theme, setTheme] = useState(currentTheme);
	const newest = looks.at(-1);
	const exported = newest
		? CHARTS.flatMap(
				(chart) => exportedBy(chart, newest)?.lines.map(({ label }) => `${chart.id} ${label}`) ?? [],
			).join('\n')
		: '';
	// The same objects while the server exports the same metrics.
	// biome-ignore lint/correctness/useExhaustiveDependencies: rebuilt when other lines are exported, not with every scrape
	const charts = useMemo(
		() => (newest ? CHARTS.map((chart) => exportedBy(chart, newest)).filter((chart) => chart !== null) : []),
		[exported],
	);
	if (!isAdmin) return <AdminSignIn title="Operations" onAdmin={() => setAdmin(true)} />;
	return (
		<main className="ops">
			<header className="ops-head">
				<Wave />
				<h1>Operations</h1>
				<a className="button small" href="/admin">
					Administration
				</a>
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
			{shown && <ProcessChoice processes={processes} shown={shown} now={now} onChoose={setChosen} />}
			{(shown || unansweredSince !== null) && <Condition process={shown} troubles={troubles} />}
			{newest && <Facts look={newest} />}
			{looks.length < 2 ? (
				<Loading label="Loading metrics" />
			) : (
				<div className="charts">
					{charts.map((chart) => (
						<Chart key={chart.id} spec={chart} looks={looks} theme={theme} />
					))}
				</div>
			)}
			<p className="hint">
				{plural(looks.length, 'look')} at /metrics of this process; one is taken every two seconds, of
				whichever process answers, and this page keeps 300 of each.
			</p>
		</main>
	);
}
