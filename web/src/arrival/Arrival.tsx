import { type ReactNode, useState } from 'react';
import { keepToken, keptToken } from '../session/token.ts';
import { AcceptInvite } from './AcceptInvite.tsx';
import { SwitchQuestion } from './SwitchQuestion.tsx';

interface Props {
	/** From the link that was opened. */
	readonly token: string | undefined;
	readonly invite: string | undefined;
	readonly children: ReactNode;
}

/** Handles the token or invite of a link first. A stored session is never replaced without asking. */
export function Arrival({ token, invite, children }: Props) {
	const [isSettled, setSettled] = useState(() => {
		if (invite) return false;
		if (!token || token === keptToken()) return true;
		if (keptToken() !== null) return false;
		keepToken(token);
		return true;
	});
	if (isSettled) return children;
	const settle = (chosen: string | null) => {
		if (chosen !== null) keepToken(chosen);
		setSettled(true);
	};
	if (invite) return <AcceptInvite invite={invite} onSettled={settle} />;
	return <SwitchQuestion kept={keptToken() ?? ''} linked={token ?? ''} onSettled={settle} />;
}
