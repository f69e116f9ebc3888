import type { ReactNode } from 'react';
import { Dialog } from './Dialog.tsx';

interface Props {
	readonly title: string;
	readonly children: ReactNode;
	readonly no: string;
	readonly yes: string;
	readonly onNo: () => void;
	readonly onYes: () => void;
}

/** A dialog that asks before an action that is hard to undo. */
export const Question = ({ title, children, no, yes, onNo, onYes }: Props) => (
	<Dialog title={title} onClose={onNo}>
		{children}
		<div className="buttons">
			<button type="button" className="button" onClick={onNo}>
				{no}
			</button>
			<button type="button" className="button danger" onClick={onYes}>
				{yes}
			</button>
		</div>
	</Dialog>
);
