import { type ReactNode, useState } from 'react';

interface Props {
	readonly className: string;
	readonly text: string;
	readonly children: ReactNode;
}

const LONG_CHARACTERS = 3_000;
const LONG_LINES = 30;

export function isLong(text: string): boolean {
	if (text.length > LONG_CHARACTERS) return true;
	let lines = 0;
	for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
	return lines > LONG_LINES;
}

/** Shows the beginning of a very long message, and a button for the rest. */
export function Folding({ className, text, children }: Props) {
	const [isOpen, setOpen] = useState(false);
	if (!isLong(text))
		return (
			<div className={className} dir="auto">
				{children}
			</div>
		);
	return (
		<>
			<div className={`${className} ${isOpen ? '' : 'folded'}`} dir="auto">
				{children}
			</div>
			<button type="button" className="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
				{isOpen ? 'Show less' : 'Show the whole message'}
			</button>
		</>
	);
}
