import { useCallback, useEffect, useState } from 'react';
import { toastResult } from '../session/toast.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { AdminHead } from './AdminHead.tsx';
import { AdminSignIn } from './AdminSignIn.tsx';
import { asAdmin, listAll, type Team } from './calls.ts';
import { useCreatedSecrets } from './created-secrets.ts';
import { NameForm } from './NameForm.tsx';
import { TeamView } from './TeamView.tsx';

/** The administrator's page: workspaces and their people. `tidemark team`, `user` and `invite` do the same on the command line. */
export function Admin() {
	const [isAdmin, setAdmin] = useState(false);
	const [teams, setTeams] = useState<readonly Team[] | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [chosen, setChosen] = useState('');
	const [duplicate, setDuplicate] = useState<{ readonly name: string; readonly existing: Team } | null>(null);
	const created = useCreatedSecrets();
	const load = useCallback(() => {
		setError(null);
		listAll<Team>('admin.teams.list', 'teams').then(setTeams, (failure: { code?: string }) =>
			setError(failure.code ?? 'network_error'),
		);
	}, []);
	useEffect(() => {
		if (isAdmin) load();
	}, [isAdmin, load]);
	if (!isAdmin) return <AdminSignIn title="Administration" onAdmin={() => setAdmin(true)} />;
	const team = teams?.find(({ id }) => id === chosen) ?? teams?.[0];
	const choose = (id: string) => {
		setChosen(id);
		created.hide(({ isCopied }) => isCopied === true);
	};
	const create = async (name: string) => {
		setDuplicate(null);
		const answer = await asAdmin<{ team: Team }>('admin.teams.create', {
			name,
			general_channel: 'general',
		});
		choose(answer.team.id);
		load();
	};
	const add = (name: string) => {
		const existing = teams?.find((one) => isSameName(one.name, name));
		if (existing) setDuplicate({ name, existing });
		else toastResult(create(name), CREATED);
	};
	return (
		<main className="admin">
			<AdminHead
				title="Administration"
				otherPage={{ path: '/ops', title: 'Operations' }}
				onSignedOut={() => {
					setAdmin(false);
					created.hide(() => true);
				}}
			/>
			{error && <Failed error={error} onRetry={load} />}
			{!error && !teams && <Loading label="Loading workspaces" />}
			{teams && (
				<section className="card" aria-label="Workspaces">
					<h2>Workspaces</h2>
					{teams.length === 0 && <p>There is no workspace yet. Enter a name to create the first one.</p>}
					{teams.length > 0 && (
						<fieldset className="team-choice">
							<legend className="only-read-aloud">Workspace</legend>
							{teams.map(({ id, name }) => (
								<button
									key={id}
									type="button"
									className="button small"
									aria-pressed={id === team?.id}
									onClick={() => choose(id)}
								>
									<bdi>{name}</bdi>
									{teams.some((one) => one.id !== id && isSameName(one.name, name)) && ` (${id})`}
									{id !== team?.id && created.uncopied(id) > 0 && ` · ${created.uncopied(id)} to copy`}
								</button>
							))}
						</fieldset>
					)}
					<NameForm label="New workspace" button="Create" isFocused={teams.length === 0} onName={add} />
					{duplicate && (
						<div className="admin-actions">
							<p className="rejection" role="alert">
								A workspace called <bdi>{duplicate.existing.name}</bdi> already exists (
								{duplicate.existing.id}). Choose another name, or create a second workspace with the same
								name.
							</p>
							<button
								type="button"
								className="button small"
								onClick={() => toastResult(create(duplicate.name), CREATED)}
							>
								Create a second one
							</button>
						</div>
					)}
				</section>
			)}
			{team && <TeamView key={team.id} team={team} created={created} />}
		</main>
	);
}

const CREATED = 'Workspace created. Everyone you invite starts in #general.';

/** Compares names as people read them; the server allows equal names. */
const isSameName = (one: string, other: string): boolean =>
	one.trim().toLowerCase() === other.trim().toLowerCase();
