import { type ReactNode, useState } from 'react';
import { storedToken, storeToken } from '../session/token.ts';
import { AcceptInvite } from './AcceptInvite.tsx';
import { SwitchQuestion } from './SwitchQuestion.tsx';

interface Props {
	/** From the opened link. */
	readonly token: string | undefined;
	readonly invite: string | undefined;
	readonly children: ReactNode;
}

/** Handles the token or invite of the opened link before it shows the page. Asks before it replaces a stored session. */
export function Arrival({ token, invite, children }: Props) {
	const [isSettled, setSettled] = useState(() => {
		if (invite) return false;
		if (!token || token === storedToken()) return true;
		if (storedToken() !== null) return false;
		storeToken(token);
		return true;
	});
	if (isSettled) return children;
	const settle = (chosen: string | null) => {
		if (chosen !== null) storeToken(chosen);
		setSettled(true);
	};
	if (invite) return <AcceptInvite invite={invite} onSettled={settle} />;
	return <SwitchQuestion stored={storedToken() ?? ''} linked={token ?? ''} onSettled={settle} />;
}
