import { Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';

/** Until conversations and counts are there: the same places, in grey. */
export const Opening = () => (
	<div className="workspace">
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
