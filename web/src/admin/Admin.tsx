import { useCallback, useEffect, useState } from 'react';
import { currentTheme, toggleTheme } from '../session/theme.ts';
import { tell } from '../session/toast.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { Wave } from '../ui/Wave.tsx';
import { AdminSignIn, signOut } from './AdminSignIn.tsx';
import { asAdmin, listAll, type Team } from './calls.ts';
import { NameForm } from './NameForm.tsx';
import { TeamView } from './TeamView.tsx';

/** Workspaces and who is in them, for the administrator: the same as the commands, with a mouse. */
export function Admin() {
	const [isAdmin, setAdmin] = useState(false);
	const [theme, setTheme] = useState(currentTheme);
	const [teams, setTeams] = useState<readonly Team[] | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [chosen, setChosen] = useState('');
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
	const add = async (name: string) => {
		const created = await asAdmin<{ team: Team }>('admin.teams.create', { name });
		setChosen(created.team.id);
		load();
	};
	return (
		<main className="admin">
			<header className="admin-head">
				<Wave />
				<h1>Administration</h1>
				<a className="button small" href="/ops">
					Operations
				</a>
				<IconButton
					icon={theme === 'dark' ? 'sun' : 'moon'}
					label={theme === 'dark' ? 'Light colours' : 'Dark colours'}
					onClick={() => setTheme(toggleTheme())}
				/>
				<button
					type="button"
					className="button small"
					onClick={() => {
						signOut();
						setAdmin(false);
					}}
				>
					Sign out
				</button>
			</header>
			{error && <Failed error={error} onRetry={load} />}
			{!error && !teams && <Loading label="Loading workspaces" />}
			{teams && (
				<section className="card" aria-label="Workspaces">
					<h2>Workspaces</h2>
					{teams.length === 0 && <p>There is no workspace yet. Name one to begin.</p>}
					{teams.length > 0 && (
						<fieldset className="processes">
							<legend className="only-read-aloud">Workspace</legend>
							{teams.map(({ id, name }) => (
								<button
									key={id}
									type="button"
									className="button small"
									aria-pressed={id === team?.id}
									onClick={() => setChosen(id)}
								>
									<bdi>{name}</bdi>
								</button>
							))}
						</fieldset>
					)}
					<NameForm
						label="New workspace"
						button="Create"
						onName={(name) => tell(add(name), 'Workspace created.')}
					/>
				</section>
			)}
			{team && <TeamView key={team.id} team={team} />}
		</main>
	);
}
