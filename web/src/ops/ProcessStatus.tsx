import { exactTime } from '../ui/format.ts';
import type { Process } from './processes.ts';
import type { Degraded } from './readiness.ts';

interface Props {
	readonly process: Process | undefined;
	readonly problems: readonly Degraded[];
}

/** Whether the shown process works. In a cluster, this says nothing about the other processes. */
export function ProcessStatus({ process, problems }: Props) {
	const healthy = process?.role === 'gateway' ? 'Everything works at this gateway' : 'Everything works';
	return (
		<section
			className={`process-status ${problems.length > 0 ? 'bad' : 'good'}`}
			aria-label="Status"
			aria-live="polite"
		>
			<strong>{problems.length === 0 ? healthy : 'Degraded'}</strong>
			<ul>
				{problems.map(({ what, cause, since }) => (
					<li key={what}>
						<b>{what}</b>
						{cause && `: ${cause}`} <span className="hint">(since {exactTime(String(since / 1000))})</span>
					</li>
				))}
			</ul>
		</section>
	);
}
