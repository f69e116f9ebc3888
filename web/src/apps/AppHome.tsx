import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Parts } from '../message/Parts.tsx';
import { partsOf } from '../message/rich/blocks.ts';
import { type Fields, fieldsIn, listIn, stringIn } from '../message/rich/json.ts';
import { toastResult } from '../session/toast.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Controls } from './Controls.tsx';
import { withoutUsable } from './elements.ts';
import { useAppFeatures } from './features.ts';

/** In the direct message with an app's bot: a button that opens the home tab of the app. */
export function AppHomeButton({ bot }: { readonly bot: string }) {
	const home = useAppFeatures().homes.find(({ bot_user_id }) => bot_user_id === bot);
	const [isOpen, setOpen] = useState(false);
	if (!home) return null;
	return (
		<>
			<button type="button" className="button" onClick={() => setOpen(true)}>
				Home
			</button>
			{isOpen && <AppHome app={home.app_id} name={home.app_name} onClose={() => setOpen(false)} />}
		</>
	);
}

interface Props {
	readonly app: string;
	readonly name: string;
	readonly onClose: () => void;
}

function AppHome({ app, name, onClose }: Props) {
	const client = useClient();
	const [view, setView] = useState<Fields | null>(null);
	useEffect(() => {
		const stop = client.onEvent((event: Fields) => {
			const changed = fieldsIn(event.view);
			if (changed.type === 'home' && changed.app_id === app) setView(changed);
		});
		// This call sends an event to the app. The app may publish a newer home tab before the answer arrives: keep that one.
		toastResult(
			client
				.call<{ view: Fields | null }>('apps.home.open', { app_id: app })
				.then((answer) => setView((newer) => newer ?? answer.view)),
		);
		return stop;
	}, [client, app]);
	const blocks = listIn(view?.blocks);
	return (
		<Dialog title={`Home of ${name}`} onClose={onClose}>
			{view ? (
				<>
					<Parts parts={partsOf(withoutUsable(blocks))} />
					<Controls
						key={stringIn(view.hash)}
						blocks={blocks}
						container={{ type: 'view', view_id: stringIn(view.id) }}
					/>
				</>
			) : (
				<p className="hint">{name} has not published a home tab yet.</p>
			)}
		</Dialog>
	);
}
