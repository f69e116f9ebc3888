import type { Conversation } from '@tidemark/client';
import { useBadge, useClient, useConnection, useSelected } from '@tidemark/client/react';
import { useCallback, useEffect, useState } from 'react';
import { AppModal } from '../apps/AppModal.tsx';
import { loadAppFeatures } from '../apps/features.ts';
import { listenToApps } from '../apps/surfaces.ts';
import { ConversationView } from '../conversation/ConversationView.tsx';
import { type DialogName, Dialogs } from '../dialogs/Dialogs.tsx';
import { ignoreOtherDrops } from '../files/dropping.ts';
import { InboxView } from '../lists/InboxView.tsx';
import { MentionsView } from '../lists/MentionsView.tsx';
import { ThreadsView } from '../lists/ThreadsView.tsx';
import { useCloseReadNotifications } from '../notifications/close-read.ts';
import { renewSubscription, unsubscribeBeforeSignOut } from '../notifications/subscribing.ts';
import { SearchView } from '../search/SearchView.tsx';
import { useReportAttention } from '../session/attention.ts';
import { useHotkey, useTypingAnywhere } from '../session/hotkeys.ts';
import { useConversationName, useSelf } from '../session/names.ts';
import { go, type Route, toConversation, useRoute } from '../session/route.ts';
import { useSyncedSidebar } from '../session/sidebar-preferences.ts';
import { showBadge } from '../session/title-badge.ts';
import { toast, toastResult } from '../session/toast.tsx';
import { signOutReason } from '../session/token.ts';
import { useOpenedConversation } from '../sidebar/opened-conversation.ts';
import { Sidebar } from '../sidebar/Sidebar.tsx';
import { isUnread, nextUnread } from '../sidebar/sections.ts';
import { ThreadPanel } from '../thread/ThreadPanel.tsx';
import { ErrorBoundary } from '../ui/ErrorBoundary.tsx';
import { ConnectionBanner } from './ConnectionBanner.tsx';
import { LoadingWorkspace } from './LoadingWorkspace.tsx';

interface Props {
	readonly onSignOut: (reason?: string | null) => void;
}

/** The page of a signed-in user. */
export function Workspace({ onSignOut }: Props) {
	const client = useClient();
	const self = useSelf();
	const route = useRoute();
	const isReady = useSelected((snapshot) => snapshot.isReady);
	const connection = useConnection();
	const [dialog, setDialog] = useState<DialogName | null>(null);
	const opened = useOpenedConversation(route.screen === 'conversation' ? route.id : null);
	useKeys(opened, setDialog);
	useTypingAnywhere();
	useTitle(route);
	useCloseReadNotifications();
	useReportAttention();
	useSyncedSidebar();
	useEffect(() => {
		const { status, reason } = connection;
		const rejection = status === 'stopped' ? signOutReason(reason ?? '', isReady) : null;
		// If the token still works, the banner offers to try again.
		if (rejection !== null) onSignOut(rejection);
	}, [connection, isReady, onSignOut]);
	useEffect(() => {
		if (isReady) performance.mark('conversations shown');
	}, [isReady]);
	useEffect(() => {
		if (self) void renewSubscription(client);
	}, [client, self]);
	useEffect(() => listenToApps(client), [client]);
	useEffect(() => void loadAppFeatures(client).catch(() => undefined), [client]);
	useEffect(ignoreOtherDrops, []);
	const signOut = useCallback(
		async (revoke: boolean) => {
			await unsubscribeBeforeSignOut(client);
			if (revoke) await client.call('auth.revoke').catch(() => undefined);
			onSignOut();
		},
		[client, onSignOut],
	);
	if (!isReady) return <LoadingWorkspace />;
	return (
		<div
			className={`workspace ${route.screen === 'home' ? 'at-home' : ''} ${route.thread ? 'with-thread' : ''}`}
		>
			<button type="button" className="skip-link" onClick={skipToMain}>
				Skip to the messages
			</button>
			<ConnectionBanner />
			<Sidebar route={route} opened={opened} onDialog={setDialog} onSignOut={() => setDialog('sign-out')} />
			<ErrorBoundary key={`${route.screen} ${route.screen === 'conversation' ? route.id : ''}`} as="main">
				<MainView route={route} onDialog={setDialog} />
			</ErrorBoundary>
			{route.thread && (
				<ErrorBoundary key={`${route.thread.channel} ${route.thread.ts}`} as="aside">
					<ThreadPanel thread={route.thread} />
				</ErrorBoundary>
			)}
			<AppModal />
			<Dialogs name={dialog} onClose={() => setDialog(null)} onSignOut={signOut} />
		</div>
	);
}

/** Moves the focus past the sidebar, to the text box or to the first link of the view. */
function skipToMain(): void {
	const main = document.querySelector<HTMLElement>('main.pane');
	const target = main?.querySelector<HTMLElement>('.composer textarea, a, button') ?? main;
	target?.focus();
}

interface MainProps {
	readonly route: Route;
	readonly onDialog: (name: DialogName) => void;
}

function MainView({ route, onDialog }: MainProps) {
	switch (route.screen) {
		case 'conversation':
			return <ConversationView key={route.id} route={route} />;
		case 'threads':
			return <ThreadsView />;
		case 'mentions':
			return <MentionsView />;
		case 'search':
			return <SearchView query={route.query ?? ''} />;
		default:
			return <InboxView onDialog={onDialog} />;
	}
}

function useKeys(opened: Conversation | null, onDialog: (name: DialogName) => void): void {
	const client = useClient();
	const walk = (step: 1 | -1) => {
		const next = nextUnread(client.getSnapshot().conversations.values(), opened, step);
		if (next) go(toConversation(next));
		else toast('There are no other unread conversations.');
	};
	useHotkey('Alt+ArrowUp', () => walk(-1));
	useHotkey('Alt+ArrowDown', () => walk(1));
	useHotkey('Shift+Escape', () => toastResult(client.markAll(), 'Everything is marked as read.'));
	useHotkey('Ctrl+k', () => onDialog('switcher'));
	useHotkey('?', () => onDialog('keys'));
}

const SCREEN_NAMES: Readonly<Record<Route['screen'], string>> = {
	home: '',
	conversation: '',
	inbox: 'Inbox',
	threads: 'Threads',
	mentions: 'Mentions',
	search: 'Search',
};

function useTitle(route: Route): void {
	const badge = useBadge();
	const conversation = useSelected(({ conversations }) => conversations.get(route.id) ?? null);
	const hasUnreads = useSelected(
		({ conversations, threads }) => threads.hasUnreads || [...conversations.values()].some(isUnread),
	);
	const name = useConversationName(conversation);
	const where = name || SCREEN_NAMES[route.screen];
	useEffect(() => showBadge(badge, hasUnreads, where), [badge, hasUnreads, where]);
}
