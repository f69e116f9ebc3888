import { Question } from '../ui/Question.tsx';
import type { Member } from './calls.ts';

export interface MemberQuestionProps {
	readonly member: Member;
	readonly what: 'sign out' | 'deactivate';
	readonly onYes: () => void;
	readonly onClose: () => void;
}

/** Both sign the person out on all devices, so the page asks first. */
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
					? 'All their devices and tokens stop working. To sign in again they need a new link from you.'
					: 'They are signed out everywhere and can no longer sign in. Their messages stay, and you can reactivate them.'}
			</p>
		</Question>
	);
}
