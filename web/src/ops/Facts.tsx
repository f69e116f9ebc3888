import { FACTS, type Look } from './charts.ts';
import { sumOf } from './prometheus.ts';

/** Numbers that should be 0, and how much was checked for them. Metrics that the server does not export are omitted. */
export const Facts = ({ look }: { readonly look: Look }) => (
	<dl className="facts">
		{FACTS.map(({ label, metric, isAlarm }) => {
			const value = sumOf(look.samples, metric);
			return value === null ? null : (
				<div key={metric} className={isAlarm && value > 0 ? 'alarm' : ''}>
					<dt>{label}</dt>
					<dd>{value.toLocaleString()}</dd>
				</div>
			);
		})}
	</dl>
);
