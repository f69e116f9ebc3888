import { useClient } from '@tidemark/client/react';
import { go, toPlace } from '../session/route.ts';
import { tell } from '../session/toast.tsx';
import { Empty } from '../ui/states.tsx';

/** A link to a conversation that one is not in. */
export function NotAMember({ id }: { readonly id: string }) {
	const client = useClient();
	return (
		<main className="pane" aria-label="Conversation">
			<Empty icon="lock" title="You are not in this conversation">
				It may be archived, or private. A public channel can be joined.
			</Empty>
			<div className="buttons centred">
				<button type="button" className="button" onClick={() => go(toPlace('inbox'))}>
					Back to the inbox
				</button>
				<button type="button" className="button primary" onClick={() => tell(client.join(id))}>
					Join
				</button>
			</div>
		</main>
	);
}
