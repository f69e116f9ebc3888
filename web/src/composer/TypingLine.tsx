import { useClient, useSelected } from '@tidemark/client/react';
import { nameOf } from '../session/names.ts';

const joined = (names: readonly string[]): string => {
	if (names.length === 1) return `${names[0]} is typing…`;
	if (names.length === 2) return `${names[0]} and ${names[1]} are typing…`;
	return 'Several people are typing…';
};

export function TypingLine({ users }: { readonly users: readonly string[] }) {
	const client = useClient();
	const names = useSelected((snapshot) =>
		users.map((id) => nameOf(snapshot.users.get(id) ?? client.user(id)) || 'Someone').join('\n'),
	);
	return <p className="typing">{names && joined(names.split('\n'))}</p>;
}
