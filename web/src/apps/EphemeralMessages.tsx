import { MessageBody } from '../message/MessageBody.tsx';
import { listIn, stringIn } from '../message/rich/json.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { Controls } from './Controls.tsx';
import { dismiss, useSurfaces } from './surfaces.ts';

/** Messages of apps that only this user sees, until the user dismisses them or reloads the page. */
export function EphemeralMessages({ channel }: { readonly channel: string }) {
	const messages = useSurfaces().messages.filter((message) => message.channel === channel);
	if (messages.length === 0) return null;
	return (
		<section className="only-you" aria-label="Only visible to you">
			{messages.map(({ ts, wire }) => {
				const blocks = listIn(wire.blocks);
				const content = { text: stringIn(wire.text), blocks, attachments: listIn(wire.attachments) };
				const container = { type: 'message', channel_id: channel, message_ts: ts, is_ephemeral: true };
				return (
					<article key={ts} role="status">
						<span className="hint">Only visible to you</span>
						<MessageBody content={content} hasControls />
						<Controls blocks={blocks} container={container} message={wire} />
						<IconButton icon="close" label="Dismiss" onClick={() => dismiss(ts)} />
					</article>
				);
			})}
		</section>
	);
}
