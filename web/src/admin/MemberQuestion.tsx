import { Question } from '../ui/Question.tsx';
import type { Member } from './calls.ts';

export interface MemberQuestionProps {
	readonly member: Member;
	readonly what: 'sign out' | 'deactivate';
	readonly onYes: () => void;
	readonly onClose: () => void;
}

/** Asks before an action that signs a person out on all devices. */
export function MemberQuestion({ member, what, onYes, onClose }: MemberQuestionProps) {
	const isSignOut = what === 'sign out';
	const name = member.real_name || member.name;
	return (
		<Question
			title={isSignOut ? `Sign out ${name} everywhere?` : `Deactivate ${name}?`}
			no="Cancel"
			yes={isSignOut ? 'Sign out everywhere' : 'Deactivate'}
			onNo={onClose}
			onYes={() => {
				onYes();
				onClose();
			}}
		>
			<p>
				{isSignOut
					? 'They are signed out on all devices, and their tokens stop working. To sign in again, they need a new link from you.'
					: 'They are signed out everywhere and can no longer sign in. Their messages stay, and you can reactivate them.'}
			</p>
		</Question>
	);
}
