import { type Process, problemsOf, titleOf } from './processes.ts';

interface Props {
	readonly processes: readonly Process[];
	readonly shown: Process;
	readonly now: number;
	readonly onChoose: (id: string) => void;
}

/** Chooses which process to show, if several answer. */
export function ProcessChoice({ processes, shown, now, onChoose }: Props) {
	if (processes.length === 1)
		return (
			<p className="hint">
				{titleOf(shown)}
				{shown.role === 'gateway' &&
					' answers at this address. For another gateway, open /ops at its own address; for a worker, open its /metrics.'}
			</p>
		);
	return (
		<fieldset className="processes">
			<legend className="hint">Several processes answer at this address. Choose the one to show:</legend>
			{processes.map((process) => (
				<button
					key={process.id}
					type="button"
					className={`button small ${problemsOf(process, now).length > 0 ? 'alarm' : ''}`}
					aria-pressed={process === shown}
					onClick={() => onChoose(process.id)}
				>
					{titleOf(process)}
					{problemsOf(process, now).length > 0 && ': degraded'}
				</button>
			))}
		</fieldset>
	);
}
