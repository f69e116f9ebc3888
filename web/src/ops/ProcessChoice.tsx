import { type Process, titleOf, troublesOf } from './processes.ts';

interface Props {
	readonly processes: readonly Process[];
	readonly shown: Process;
	readonly now: number;
	readonly onChoose: (id: string) => void;
}

/** Chooses which of the answering processes to show. */
export function ProcessChoice({ processes, shown, now, onChoose }: Props) {
	if (processes.length === 1)
		return (
			<p className="hint">
				{titleOf(shown)}
				{shown.role === 'gateway' &&
					': the process that answers here. For another gateway, open its own /ops; for a worker, its /metrics.'}
			</p>
		);
	return (
		<fieldset className="processes">
			<legend className="hint">Several processes answer here. Choose which to show:</legend>
			{processes.map((process) => (
				<button
					key={process.id}
					type="button"
					className={`button small ${troublesOf(process, now).length > 0 ? 'alarm' : ''}`}
					aria-pressed={process === shown}
					onClick={() => onChoose(process.id)}
				>
					{titleOf(process)}
					{troublesOf(process, now).length > 0 && ': degraded'}
				</button>
			))}
		</fieldset>
	);
}
