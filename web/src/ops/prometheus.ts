/** Parses the answer of `/metrics`: the part of Prometheus' text format that the server uses. */

export interface Sample {
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): readonly Sample[] {
	const samples: Sample[] = [];
	for (const line of text.split('\n')) {
		const match = LINE.exec(line);
		if (!match || line.startsWith('#')) continue;
		const [, name = '', labelText = '', value = ''] = match;
		const labels = Object.fromEntries(
			[...labelText.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text.replace(/\\(.)/g, '$1')]),
		);
		samples.push({ name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) });
	}
	return samples;
}

type Filter = Readonly<Record<string, string>>;

const matches = ({ labels }: Sample, filter: Filter): boolean =>
	Object.entries(filter).every(([label, value]) => labels[label] === value);

/** The sum of all series of a name; null if there is none. */
export function sumOf(samples: readonly Sample[], name: string, filter: Filter = {}): number | null {
	const found = samples.filter((sample) => sample.name === name);
	if (found.length === 0) return null;
	return found.filter((sample) => matches(sample, filter)).reduce((sum, { value }) => sum + value, 0);
}

/** The buckets of a histogram, summed over all series: upper bounds ascending, with cumulative counts. */
export function bucketsOf(samples: readonly Sample[], name: string): ReadonlyMap<number, number> {
	const sums = new Map<number, number>();
	for (const sample of samples) {
		if (sample.name !== `${name}_bucket`) continue;
		const bound = sample.labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(sample.labels.le);
		sums.set(bound, (sums.get(bound) ?? 0) + sample.value);
	}
	return new Map([...sums].sort(([a], [b]) => a - b));
}

/** A quantile of the observations between two scrapes, interpolated within its bucket; null: no observations. */
export function quantileBetween(
	before: ReadonlyMap<number, number>,
	after: ReadonlyMap<number, number>,
	share: number,
): number | null {
	const counts = [...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const);
	const total = counts.at(-1)?.[1] ?? 0;
	if (total <= 0) return null;
	const wanted = total * share;
	let [boundBelow, countBelow] = [0, 0];
	for (const [bound, count] of counts) {
		if (count >= wanted) {
			// The last bucket has no upper bound: return its lower one.
			if (bound === Number.POSITIVE_INFINITY) return boundBelow;
			const within = count === countBelow ? 1 : (wanted - countBelow) / (count - countBelow);
			return boundBelow + (bound - boundBelow) * within;
		}
		[boundBelow, countBelow] = [bound, count];
	}
	return boundBelow;
}
