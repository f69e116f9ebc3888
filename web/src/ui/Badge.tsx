import { plural, shortCount } from './format.ts';

/** How many; said in full to who does not see it. */
export const Badge = ({ count, of = 'mention' }: { readonly count: number; readonly of?: string }) =>
	count > 0 ? (
		<span className="badge">
			<span aria-hidden="true">{shortCount(count)}</span>
			<span className="only-read-aloud">{plural(count, of)}</span>
		</span>
	) : null;
