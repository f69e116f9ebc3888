import { useClient } from '@tidemark/client/react';
import { useCallback, useEffect, useState } from 'react';
import { toast, toastResult } from '../session/toast.tsx';
import { CopyField } from '../ui/CopyField.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { exactTime, whenOf } from '../ui/format.ts';
import { Failed, Loading } from '../ui/states.tsx';

interface Session {
	readonly id: string;
	readonly device: string;
	readonly date_created: number;
	readonly date_last_used?: number;
	readonly is_current: boolean;
}

/** Lists the user's devices. Signs out one of them or all, and creates a link for another device. */
export function SessionsDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const [sessions, setSessions] = useState<readonly Session[] | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [link, setLink] = useState<string | null>(null);
	const [isAsking, setAsking] = useState(false);
	const load = useCallback(() => {
		setError(null);
		client.call<{ sessions: readonly Session[] }>('auth.sessions.list').then(
			(answer) => setSessions(answer.sessions),
			(failure: { code?: string }) => setError(failure.code ?? 'network_error'),
		);
	}, [client]);
	useEffect(load, [load]);
	const end = (session: Session) =>
		toastResult(
			client.call('auth.sessions.revoke', { session_id: session.id }).finally(load),
			'The device was signed out.',
		);
	const endAll = () => {
		if (isAsking) toastResult(client.call('auth.sessions.revoke', { all: true }));
		else setAsking(true);
	};
	const add = () =>
		client.call<{ url: string }>('auth.sessions.add').then(
			({ url }) => setLink(url),
			() => toast('The link could not be created. Try again.'),
		);
	return (
		<Dialog title="Your devices" onClose={onClose}>
			{error && <Failed error={error} onRetry={load} />}
			{!error && !sessions && <Loading lines={3} />}
			<ul className="sessions">
				{sessions?.map((session) => (
					<li key={session.id}>
						<span>
							<strong>{session.device || 'Signed in with a token'}</strong>
							<small className="hint" title={exactTime(String(session.date_created))}>
								{lastUse(session)} · signed in {whenOf(String(session.date_created))}
							</small>
						</span>
						{!session.is_current && (
							<button
								type="button"
								className="button small"
								aria-label={`Sign out ${session.device || 'the device with a token'}, signed in ${exactTime(String(session.date_created))}`}
								onClick={() => end(session)}
							>
								Sign out
							</button>
						)}
					</li>
				))}
			</ul>
			{link && (
				<CopyField
					label="Link for another device"
					value={link}
					hint="Copy it now: it is not shown again. Open it on the other device within an hour. It works once."
				/>
			)}
			{isAsking && (
				<p role="alert">
					This signs you out on every device, including this one, and revokes all your tokens. To sign in
					again, you need a link from your administrator.
				</p>
			)}
			<div className="buttons">
				<button type="button" className="button" onClick={add}>
					Add a device
				</button>
				<button type="button" className={`button ${isAsking ? 'danger' : 'alarming'}`} onClick={endAll}>
					{isAsking ? 'Yes, sign out everywhere' : 'Sign out everywhere'}
				</button>
			</div>
		</Dialog>
	);
}

function lastUse({ is_current, date_last_used }: Session): string {
	if (is_current) return 'This device';
	return date_last_used === undefined ? 'Last use unknown' : `Last used ${whenOf(String(date_last_used))}`;
}
