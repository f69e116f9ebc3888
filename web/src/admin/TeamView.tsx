import { useCallback, useEffect, useState } from 'react';
import { toastResult } from '../session/toast.tsx';
import { CopyField } from '../ui/CopyField.tsx';
import { exactTime } from '../ui/format.ts';
import { asAdmin, type Invite, listAll, type Member, type Team } from './calls.ts';
import type { Created, CreatedSecrets } from './created-secrets.ts';
import { InviteForm } from './InviteForm.tsx';
import { InviteList, shortId } from './InviteList.tsx';
import { MemberQuestion, type MemberQuestionProps } from './MemberQuestion.tsx';
import { MemberSection } from './MemberSection.tsx';
import { NameForm } from './NameForm.tsx';

interface Props {
	readonly team: Team;
	readonly created: CreatedSecrets;
}

/** One workspace: invite people, list them, sign out and deactivate them. */
export function TeamView({ team, created }: Props) {
	const [members, setMembers] = useState<readonly Member[] | null>(null);
	const [invites, setInvites] = useState<readonly Invite[]>([]);
	const [error, setError] = useState<string | null>(null);
	const [asked, setAsked] = useState<Omit<MemberQuestionProps, 'onClose'> | null>(null);
	const load = useCallback(async () => {
		setError(null);
		try {
			const args = { team_id: team.id };
			const [users, open] = await Promise.all([
				listAll<Member>('admin.users.list', 'users', args),
				listAll<Invite>('admin.invites.list', 'invites', args),
			]);
			setMembers(users);
			setInvites(open.filter(({ is_active }) => is_active));
		} catch (failure) {
			setError((failure as { code?: string }).code ?? 'network_error');
		}
	}, [team.id]);
	// Reload when the window gets the focus: people may have used links and joined in the meantime.
	useEffect(() => {
		void load();
		const reload = () => void load();
		addEventListener('focus', reload);
		return () => removeEventListener('focus', reload);
	}, [load]);

	const show = (one: Omit<Created, 'team'>) => created.show({ ...one, team: team.id });
	const invite = async (member: Member | null, label = '') => {
		const { url, invite: link } = await asAdmin<{ url: string; invite: Invite }>('admin.invites.create', {
			team_id: team.id,
			...(member ? { user_id: member.id } : {}),
			label,
		});
		show({
			invite: link.id,
			label: member ? `Link that signs in ${member.real_name || member.name}` : `Invite link to ${team.name}`,
			value: url,
			hint: `Link ${shortId(link)}. Copy it now: it is not shown again. Send it to ${member ? member.real_name || member.name : 'one person'}. It works once, until ${exactTime(String(link.expires_at))}.`,
		});
		await load();
	};
	const add = async (name: string) => {
		const { user } = await asAdmin<{ user: Member }>('admin.users.create', {
			team_id: team.id,
			real_name: name,
		});
		await invite(user);
	};
	const tokenFor = async (member: Member) => {
		const { token } = await asAdmin<{ token: string }>('admin.tokens.create', { user_id: member.id });
		show({
			label: `Token of ${member.name}`,
			value: token,
			hint: 'Copy it now: it is not shown again.',
		});
	};
	const change = (work: Promise<unknown>, done: string) => toastResult(work.finally(load), done);

	/** A link that was used or has expired in the meantime no longer works either, so that is not an error. */
	const revoke = (invite_id: string) =>
		asAdmin('admin.invites.revoke', { invite_id }).catch((failure: { code?: string }) => {
			if (failure.code !== 'invite_used' && failure.code !== 'invite_expired') throw failure;
		});
	const revokeAndHide = async (invite_id: string) => {
		await revoke(invite_id);
		created.hide(({ invite: shown }) => shown === invite_id);
	};

	const signOut = (member: Member) =>
		change(asAdmin('admin.tokens.revoke', { user_id: member.id }), `${member.name} was signed out.`);
	const setActive = (member: Member, isActive: boolean) =>
		change(
			asAdmin(`admin.users.${isActive ? 'reactivate' : 'deactivate'}`, { user_id: member.id }),
			`${member.name} is ${isActive ? 'active again' : 'deactivated'}.`,
		);

	return (
		<>
			<section className="card" aria-label="Invite people">
				<h2>
					Invite people to <bdi>{team.name}</bdi>
				</h2>
				<p className="hint">
					Send an invite link to one person, who then chooses a name. Or add a person by name, and send them
					the sign-in link that appears.
				</p>
				<div className="admin-actions">
					<InviteForm onInvite={(label) => toastResult(invite(null, label))} />
					<NameForm
						label="Add a person"
						button="Add"
						onName={(name) => toastResult(add(name), `${name} was added. The link below signs them in.`)}
					/>
				</div>
				{created.of(team.id).map(({ label, value, hint }) => (
					<CopyField
						key={value}
						label={label}
						value={value}
						hint={hint}
						onCopied={() => created.setCopied(value)}
						onDismiss={() => created.hide((one) => one.value === value)}
					/>
				))}
				<InviteList
					invites={invites}
					members={members ?? []}
					onRevoke={(invite_id) => change(revokeAndHide(invite_id), 'This link no longer works.')}
				/>
			</section>
			{asked && <MemberQuestion {...asked} onClose={() => setAsked(null)} />}
			<MemberSection
				members={members}
				error={error}
				onRetry={() => void load()}
				onInvite={(member) => toastResult(invite(member))}
				onToken={(member) => toastResult(tokenFor(member))}
				onSignOut={(member) => setAsked({ member, what: 'sign out', onYes: () => signOut(member) })}
				onActive={(member, isActive) =>
					isActive
						? setActive(member, true)
						: setAsked({ member, what: 'deactivate', onYes: () => setActive(member, false) })
				}
			/>
		</>
	);
}
