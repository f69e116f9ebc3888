import type { Method } from '../method.ts';
import {
	adminAppsCreate,
	adminAppsDelete,
	adminAppsInfo,
	adminAppsList,
	adminAppsResume,
	adminAppsUpdate,
} from './admin-apps.ts';
import {
	adminAppsTokensCreate,
	adminAppsTokensList,
	adminAppsTokensRevoke,
	adminAppsWebhooksCreate,
	adminAppsWebhooksDelete,
	adminAppsWebhooksList,
} from './admin-apps-tokens.ts';
import { blocksActions, blocksSuggestions } from './app-actions.ts';
import { chatCommand, commandsList, shortcutsRun } from './app-commands.ts';
import {
	appsHomeOpen,
	viewsClose,
	viewsGet,
	viewsOpen,
	viewsPublish,
	viewsPush,
	viewsSubmit,
	viewsUpdate,
} from './app-views.ts';
import { appsConnectionsOpen } from './apps-connections.ts';
import { chatPostEphemeral } from './chat-ephemeral.ts';

/** Methods for apps, and for the administration of apps. */
export const APP_METHODS: Readonly<Record<string, Method>> = {
	'admin.apps.create': adminAppsCreate,
	'admin.apps.delete': adminAppsDelete,
	'admin.apps.info': adminAppsInfo,
	'admin.apps.list': adminAppsList,
	'admin.apps.resume': adminAppsResume,
	'admin.apps.tokens.create': adminAppsTokensCreate,
	'admin.apps.tokens.list': adminAppsTokensList,
	'admin.apps.tokens.revoke': adminAppsTokensRevoke,
	'admin.apps.update': adminAppsUpdate,
	'admin.apps.webhooks.create': adminAppsWebhooksCreate,
	'admin.apps.webhooks.delete': adminAppsWebhooksDelete,
	'admin.apps.webhooks.list': adminAppsWebhooksList,
	'apps.connections.open': appsConnectionsOpen,
	'apps.home.open': appsHomeOpen,
	'blocks.actions': blocksActions,
	'blocks.suggestions': blocksSuggestions,
	'chat.command': chatCommand,
	'chat.postEphemeral': chatPostEphemeral,
	'commands.list': commandsList,
	'shortcuts.run': shortcutsRun,
	'views.close': viewsClose,
	'views.get': viewsGet,
	'views.open': viewsOpen,
	'views.publish': viewsPublish,
	'views.push': viewsPush,
	'views.submit': viewsSubmit,
	'views.update': viewsUpdate,
};
