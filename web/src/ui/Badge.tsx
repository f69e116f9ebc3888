import { plural, shortCount } from './format.ts';

/** A count, with its meaning for screen readers. */
export const Badge = ({ count, of = 'mention' }: { readonly count: number; readonly of?: string }) =>
	count > 0 ? (
		<span className="badge">
			<span aria-hidden="true">{shortCount(count)}</span>
			<span className="only-read-aloud">{plural(count, of)}</span>
		</span>
	) : null;
