import { useMemo, useState } from 'react';
import { AdminHead } from '../admin/AdminHead.tsx';
import { AdminSignIn } from '../admin/AdminSignIn.tsx';
import { useTheme } from '../session/theme.ts';
import { plural } from '../ui/format.ts';
import { Loading } from '../ui/states.tsx';
import { Chart } from './Chart.tsx';
import { CHARTS, exportedBy } from './charts.ts';
import { ProcessChoice } from './ProcessChoice.tsx';
import { ProcessStatus } from './ProcessStatus.tsx';
import { chosenProcess, problemsOf } from './processes.ts';
import { Totals } from './Totals.tsx';
import { useProcesses } from './useProcesses.ts';

/** The operations page: what is degraded in one process of the server, and charts of its load. */
export function Ops() {
	const [isAdmin, setAdmin] = useState(false);
	const { processes, failure } = useProcesses(isAdmin);
	const [chosen, setChosen] = useState<string | null>(null);
	const shown = chosenProcess(processes, chosen);
	const scrapes = shown?.scrapes ?? [];
	const now = Math.max(...processes.map(({ answeredAt }) => answeredAt));
	const problems = failure ? [failure] : shown ? problemsOf(shown, now) : [];
	const theme = useTheme();
	const newest = scrapes.at(-1);
	const exported = newest
		? CHARTS.flatMap(
				(chart) => exportedBy(chart, newest)?.lines.map(({ label }) => `${chart.id} ${label}`) ?? [],
			).join('\n')
		: '';
	// Keeps the same objects while the server exports the same metrics.
	// biome-ignore lint/correctness/useExhaustiveDependencies: rebuilt only when the server exports other metrics
	const charts = useMemo(
		() => (newest ? CHARTS.map((chart) => exportedBy(chart, newest)).filter((chart) => chart !== null) : []),
		[exported],
	);
	if (!isAdmin) return <AdminSignIn title="Operations" onAdmin={() => setAdmin(true)} />;
	return (
		<main className="ops">
			<AdminHead
				title="Operations"
				otherPage={{ path: '/admin', title: 'Administration' }}
				onSignedOut={() => setAdmin(false)}
			/>
			{shown && <ProcessChoice processes={processes} shown={shown} now={now} onChoose={setChosen} />}
			{(shown || failure) && <ProcessStatus process={shown} problems={problems} />}
			{newest && <Totals scrape={newest} />}
			{scrapes.length < 2 ? (
				<Loading label="Loading metrics" />
			) : (
				<div className="charts">
					{charts.map((chart) => (
						<Chart key={chart.id} spec={chart} scrapes={scrapes} theme={theme} />
					))}
				</div>
			)}
			<p className="hint">
				The charts show {plural(scrapes.length, 'sample')} of this process’s /metrics. The page takes a sample
				every two seconds, from the process that answers, and keeps the last 300 of each process.
			</p>
		</main>
	);
}
