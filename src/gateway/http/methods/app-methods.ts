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
import { appsConnectionsOpen } from './apps-connections.ts';

/** Methods of apps, and about them. */
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
};
