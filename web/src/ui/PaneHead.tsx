import type { ReactNode } from 'react';
import { BackButton } from './BackButton.tsx';

interface Props {
	readonly title: string;
	/** One line under it. */
	readonly about: ReactNode;
	/** What can be done with all of it. */
	readonly children?: ReactNode;
}

/** The head of a list that is not one conversation. */
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
