import { type ReactNode, useState } from 'react';
import { isLong } from './plain-text.ts';

interface Props {
	readonly className: string;
	readonly text: string;
	readonly children: ReactNode;
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
