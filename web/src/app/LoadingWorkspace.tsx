import { Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { ConnectionBanner } from './ConnectionBanner.tsx';

/** Placeholders until conversations and counts are loaded. */
export const LoadingWorkspace = () => (
	<div className="workspace">
		<ConnectionBanner />
		<nav className="sidebar" aria-label="Conversations">
			<header className="side-head">
				<Wave />
			</header>
			<Loading lines={8} label="Loading conversations" />
		</nav>
		<main className="pane" aria-label="Loading">
			<Loading />
		</main>
	</div>
);
