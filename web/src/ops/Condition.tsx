import { exactTime } from '../ui/format.ts';
import type { Process } from './processes.ts';
import type { Degraded } from './readiness.ts';

interface Props {
	readonly process: Process | undefined;
	readonly troubles: readonly Degraded[];
}

/** Whether the shown process works. In a cluster it is one of many; the others are not covered. */
export function Condition({ process, troubles }: Props) {
	const fine = process?.role === 'gateway' ? 'Everything works at this gateway' : 'Everything works';
	return (
		<section
			className={`condition ${troubles.length > 0 ? 'bad' : 'good'}`}
			aria-label="Condition"
			aria-live="polite"
		>
			<strong>{troubles.length === 0 ? fine : 'Degraded'}</strong>
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
