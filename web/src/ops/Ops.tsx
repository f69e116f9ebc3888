import { useMemo, useState } from 'react';
import { AdminSignIn, signOut } from '../admin/AdminSignIn.tsx';
import { ThemeButton } from '../session/ThemeButton.tsx';
import { useTheme } from '../session/theme.ts';
import { plural } from '../ui/format.ts';
import { Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { Chart } from './Chart.tsx';
import { Condition } from './Condition.tsx';
import { CHARTS, exportedBy } from './charts.ts';
import { Facts } from './Facts.tsx';
import { ProcessChoice } from './ProcessChoice.tsx';
import { shownOf, troublesOf } from './processes.ts';
import { useProcesses } from './useProcesses.ts';

/** The state of one process of the server: what is degraded, and charts of its load. */
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
	const theme = useTheme();
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
				<ThemeButton />
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
				{plural(looks.length, 'sample')} of /metrics from this process. The page takes one every two seconds
				from the process that answers, and keeps 300 of each.
			</p>
		</main>
	);
}
