import { type Call, client } from './api.ts';
import { ADMIN_TOKEN } from './server.ts';

/** A workspace with users, created through the administrator's methods. */

export interface Person {
	readonly id: string;
	readonly name: string;
	readonly token: string;
	readonly call: Call;
}

export interface Workspace {
	readonly team: string;
	readonly admin: Call;
	readonly people: readonly Person[];
}

export async function makeWorkspace(url: string, count: number, name = 'Tests'): Promise<Workspace> {
	const admin = client(url, ADMIN_TOKEN);
	const { team } = await admin('admin.teams.create', { name });
	const people: Person[] = [];
	for (let index = 0; index < count; index += 1) {
		const userName = `person-${index}`;
		const { user } = await admin('admin.users.create', { team_id: team.id, name: userName });
		const { token } = await admin('admin.tokens.create', { user_id: user.id });
		people.push({ id: user.id, name: userName, token, call: client(url, token) });
	}
	return { team: team.id, admin, people };
}

export const micros = (ts: string): number => Number(ts.replace('.', ''));

export function wireTs(ts: number): string {
	const digits = String(ts).padStart(16, '0');
	return `${digits.slice(0, 10)}.${digits.slice(10)}`;
}
