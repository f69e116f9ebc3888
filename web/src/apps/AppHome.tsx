import { ApiError } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useCallback, useEffect, useState } from 'react';
import { Parts } from '../message/Parts.tsx';
import { partsOf } from '../message/rich/blocks.ts';
import { type Fields, fieldsIn, listIn, stringIn } from '../message/rich/json.ts';
import { Dialog } from '../ui/Dialog.tsx';
import { Failed, Loading } from '../ui/states.tsx';
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
	/** Null: the app has published none. Undefined: not loaded yet. */
	const [view, setView] = useState<Fields | null | undefined>();
	const [error, setError] = useState<string | null>(null);
	const open = useCallback(() => {
		setError(null);
		// This call sends an event to the app. The app may publish a newer home tab before the answer arrives: keep that one.
		client.call<{ view: Fields | null }>('apps.home.open', { app_id: app }).then(
			(answer) => setView((newer) => newer ?? answer.view),
			(reason: unknown) => setError(reason instanceof ApiError ? reason.code : 'network_error'),
		);
	}, [client, app]);
	useEffect(() => {
		const stop = client.onEvent((event: Fields) => {
			const changed = fieldsIn(event.view);
			if (changed.type === 'home' && changed.app_id === app) setView(changed);
		});
		open();
		return stop;
	}, [client, app, open]);
	return (
		<Dialog title={`Home of ${name}`} onClose={onClose}>
			{view && <HomeTab view={view} />}
			{view === null && <p className="hint">{name} has not published a home tab yet.</p>}
			{view === undefined && (error ? <Failed error={error} onRetry={open} /> : <Loading lines={3} />)}
		</Dialog>
	);
}

function HomeTab({ view }: { readonly view: Fields }) {
	const blocks = listIn(view.blocks);
	return (
		<>
			<Parts parts={partsOf(withoutUsable(blocks))} />
			<Controls
				key={stringIn(view.hash)}
				blocks={blocks}
				container={{ type: 'view', view_id: stringIn(view.id) }}
			/>
		</>
	);
}
