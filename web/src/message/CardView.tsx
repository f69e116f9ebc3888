import { dateOf, exactTime } from '../ui/format.ts';
import { Pieces } from './MessageText.tsx';
import { Parts } from './Parts.tsx';
import type { Card } from './rich/cards.ts';

/** An attachment with its coloured bar. */
export function CardView({ card }: { readonly card: Card }) {
	const { colour, pretext, author, title, parts, footer, ts } = card;
	const isHex = colour?.startsWith('#') ?? false;
	return (
		<>
			{pretext.length > 0 && (
				<div>
					<Pieces pieces={pretext} />
				</div>
			)}
			<div
				className={`card ${isHex ? '' : (colour ?? '')}`}
				style={isHex ? { borderLeftColor: colour ?? '' } : {}}
			>
				{author.length > 0 && (
					<div className="card-small">
						<Pieces pieces={author} />
					</div>
				)}
				{title.length > 0 && (
					<div className="card-title">
						<Pieces pieces={title} />
					</div>
				)}
				<Parts parts={parts} />
				{(footer.length > 0 || ts) && (
					<div className="card-small">
						<Pieces pieces={footer} />
						{ts && <time dateTime={dateOf(ts).toISOString()}>{exactTime(ts)}</time>}
					</div>
				)}
			</div>
		</>
	);
}
