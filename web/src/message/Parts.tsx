import { Pieces } from './MessageText.tsx';
import { type Field, type Part, UNKNOWN } from './rich/part.ts';
import type { Words } from './rich/words.ts';

/** The parts of a message, one below the other. */
export const Parts = ({ parts }: { readonly parts: readonly Part[] }) =>
	// biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity, and are rebuilt when the message changes
	parts.map((part, index) => <PartOf key={index} part={part} />);

function PartOf({ part }: { readonly part: Part }) {
	switch (part.kind) {
		case 'header':
			return (
				<div className="part-header">
					<Pieces pieces={part.words} />
				</div>
			);
		case 'words':
			return (
				<div className="part">
					<Pieces pieces={part.words} />
				</div>
			);
		case 'quote':
			return (
				<blockquote className="part-quote">
					<Pieces pieces={part.words} />
				</blockquote>
			);
		case 'context':
			return <Items className="part-context" items={part.items} />;
		case 'controls':
			return <Items className="part-controls" items={part.items} />;
		case 'fields':
			return <Fields fields={part.fields} />;
		case 'list':
			return <List part={part} />;
		case 'divider':
			return <hr className="part-divider" />;
		case 'unknown':
			return <div className="hint">{UNKNOWN}</div>;
	}
}

const Items = ({ className, items }: { readonly className: string; readonly items: readonly Words[] }) => (
	<div className={className}>
		{items.map((words, index) => (
			// biome-ignore lint/suspicious/noArrayIndexKey: items never move
			<span key={index}>
				<Pieces pieces={words} />
			</span>
		))}
	</div>
);

const Fields = ({ fields }: { readonly fields: readonly Field[] }) => (
	<div className="part-fields">
		{fields.map(({ title, words, isShort }, index) => (
			// biome-ignore lint/suspicious/noArrayIndexKey: items never move
			<div key={index} className={isShort ? '' : 'long'}>
				{title.length > 0 && (
					<strong>
						<Pieces pieces={title} />
					</strong>
				)}
				<div>
					<Pieces pieces={words} />
				</div>
			</div>
		))}
	</div>
);

function List({ part }: { readonly part: Extract<Part, { kind: 'list' }> }) {
	const items = part.items.map((words, index) => (
		// biome-ignore lint/suspicious/noArrayIndexKey: items never move
		<li key={index}>
			<Pieces pieces={words} />
		</li>
	));
	const place = { className: 'part-list', style: { marginLeft: `${part.indent * 20}px` } };
	return part.from === null ? (
		<ul {...place}>{items}</ul>
	) : (
		<ol {...place} start={part.from}>
			{items}
		</ol>
	);
}
