import type { ReactNode } from 'react';
import { BackButton } from './BackButton.tsx';

interface Props {
	readonly title: string;
	/** A line below the title. */
	readonly about: ReactNode;
	/** Actions on the whole list. */
	readonly children?: ReactNode;
}

/** The head of a view that is not a conversation: inbox, threads, mentions, search. */
export const PaneHead = ({ title, about, children }: Props) => (
	<header className="pane-head">
		<BackButton />
		<div className="pane-title">
			<h1>{title}</h1>
			<p>{about}</p>
		</div>
		{children}
	</header>
);
