import {
	createContext,
	createElement,
	type FunctionComponent,
	type ReactNode,
	useContext,
	useEffect,
	useState,
	useSyncExternalStore,
} from 'react';
import type { TidemarkClient } from './public.ts';
import type {
	ClientSnapshot,
	Connection,
	Conversation,
	ConversationView,
	FileLink,
	Store,
	ThreadsView,
	ThreadView,
	User,
} from './types.ts';

/** The stores as hooks. Each re-renders only when its own value changes. */

const ClientContext = createContext<TidemarkClient | null>(null);

export interface TidemarkProviderProps {
	readonly client: TidemarkClient;
	readonly children?: ReactNode;
}

export const TidemarkProvider: FunctionComponent<TidemarkProviderProps> = ({ client, children }) =>
	createElement(ClientContext.Provider, { value: client }, children);

export function useClient(): TidemarkClient {
	const client = useContext(ClientContext);
	if (!client)
		throw new Error('useClient and the other hooks need a <TidemarkProvider> around the component.');
	return client;
}

const useStore = <T>({ subscribe, getSnapshot }: Store<T>): T =>
	useSyncExternalStore(subscribe, getSnapshot, getSnapshot);

/** A part of the snapshot. Re-renders when the selected value changes its identity. */
export function useSelected<T>(select: (snapshot: ClientSnapshot) => T): T {
	const { subscribe, getSnapshot } = useClient();
	const selected = () => select(getSnapshot());
	return useSyncExternalStore(subscribe, selected, selected);
}

export const useSnapshot = (): ClientSnapshot => useStore(useClient());
export const useInbox = (): readonly Conversation[] => useStore(useClient().inbox);
export const useBadge = (): number => useStore(useClient().badge);
export const useConversation = (id: string): ConversationView => useStore(useClient().conversation(id));
export const useThread = (channel: string, threadTs: string): ThreadView =>
	useStore(useClient().thread(channel, threadTs));
export const useThreads = (): ThreadsView => useStore(useClient().threads);
export const useConnection = (): Connection => useSelected(({ connection }) => connection);

/** Undefined until the user is loaded. */
export function useUser(id: string): User | undefined {
	const client = useClient();
	// `users.get` reloads an outdated user, `client.user` fetches a missing one; the snapshot changes when the user arrives.
	return useSelected(({ users }) => users.get(id) ?? client.user(id));
}

/** Null until the link is loaded, and if the file was deleted or the user may not see it. */
export function useFileLink(id: string): FileLink | null {
	const client = useClient();
	const [loaded, setLoaded] = useState<{ readonly id: string; readonly link: FileLink | null } | null>(null);
	useEffect(() => {
		let isCurrent = true;
		client.fileLink(id).then(
			(link) => isCurrent && setLoaded({ id, link }),
			() => undefined,
		);
		return () => {
			isCurrent = false;
		};
	}, [client, id]);
	return loaded?.id === id ? loaded.link : null;
}
