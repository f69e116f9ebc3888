import { type Scrape, TOTALS } from './charts.ts';
import { sumOf } from './prometheus.ts';

/** How many counts were verified, and numbers that should be 0. Metrics that the server does not export are omitted. */
export const Totals = ({ scrape }: { readonly scrape: Scrape }) => (
	<dl className="totals">
		{TOTALS.map(({ label, metric, isAlarm }) => {
			const value = sumOf(scrape.samples, metric);
			return value === null ? null : (
				<div key={metric} className={isAlarm && value > 0 ? 'alarm' : ''}>
					<dt>{label}</dt>
					<dd>{value.toLocaleString()}</dd>
				</div>
			);
		})}
	</dl>
);
