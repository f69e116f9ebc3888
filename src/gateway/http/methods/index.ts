import type { Method } from '../method.ts';
import {
	adminTeamsCreate,
	adminUsersCreate,
	adminUsersDeactivate,
	adminUsersReactivate,
} from './admin-accounts.ts';
import { adminConversationsAddMembers } from './admin-conversations.ts';
import { adminInvitesCreate, adminInvitesList, adminInvitesRevoke } from './admin-invites.ts';
import { adminTeamsList, adminUsersList } from './admin-listings.ts';
import { adminPushList, adminPushReplay } from './admin-push.ts';
import { adminTokensCreate, adminTokensList, adminTokensRevoke } from './admin-tokens.ts';
import { adminUnreadsVerify } from './admin-unreads.ts';
import { apiTest } from './api-test.ts';
import { APP_METHODS } from './app-methods.ts';
import { authRevoke, authTest } from './auth.ts';
import { authSessionsAdd, authSessionsList, authSessionsRevoke } from './auth-sessions.ts';
import { chatDelete, chatMeMessage, chatPostMessage, chatUpdate } from './chat.ts';
import { chatGetPermalink } from './chat-permalink.ts';
import {
	chatDeleteScheduledMessage,
	chatScheduledMessagesList,
	chatScheduleMessage,
} from './chat-scheduled.ts';
import { clientCounts, clientExplain, clientMarkAllRead, clientSync } from './client.ts';
import { clientUserBoot } from './client-boot.ts';
import { conversationsCreate, conversationsRename } from './conversations-create.ts';
import { conversationsHistory } from './conversations-history.ts';
import { conversationsInfo } from './conversations-info.ts';
import { conversationsList, usersConversations } from './conversations-list.ts';
import {
	conversationsMark,
	conversationsMarkMessage,
	conversationsMarkUnread,
	conversationsMute,
	conversationsSetNotifications,
	conversationsUnmute,
} from './conversations-marking.ts';
import {
	conversationsInvite,
	conversationsJoin,
	conversationsKick,
	conversationsLeave,
	conversationsMembers,
} from './conversations-members.ts';
import { conversationsClose, conversationsOpen } from './conversations-open.ts';
import { conversationsReplies } from './conversations-replies.ts';
import {
	conversationsArchive,
	conversationsSetPurpose,
	conversationsSetTopic,
	conversationsUnarchive,
} from './conversations-settings.ts';
import { conversationsReaders, conversationsUnreads } from './conversations-unreads.ts';
import { dndEndDnd, dndEndSnooze, dndInfo, dndSetSnooze, dndTeamInfo } from './dnd.ts';
import { filesDelete, filesGetLinks, filesInfo, filesList, filesUpload } from './files.ts';
import { filesCompleteUploadExternal, filesGetUploadURLExternal } from './files-upload.ts';
import { inboxList } from './inbox.ts';
import { invitesAccept, invitesInfo } from './invites.ts';
import { pinsAdd, pinsList, pinsRemove } from './pins.ts';
import { pushDevicesAdd, pushDevicesList, pushDevicesRemove, pushWebKey } from './push-devices.ts';
import { reactionsAdd, reactionsGet, reactionsList, reactionsRemove } from './reactions.ts';
import { rtmConnect } from './rtm.ts';
import { searchAll, searchFiles, searchMessages } from './search.ts';
import {
	subscriptionsThreadAdd,
	subscriptionsThreadClearAll,
	subscriptionsThreadGet,
	subscriptionsThreadMark,
	subscriptionsThreadRemove,
} from './subscriptions.ts';
import { subscriptionsThreadGetView } from './subscriptions-view.ts';
import { botsInfo, emojiList, teamInfo, usergroupsList } from './team.ts';
import { usersGetPresence, usersInfo, usersList, usersLookupByEmail, usersSetPresence } from './users.ts';
import { usersDeletePhoto, usersSetPhoto } from './users-photo.ts';
import { usersPrefsGet, usersPrefsSet } from './users-prefs.ts';
import { usersProfileGet, usersProfileSet } from './users-profile.ts';

/** All API methods by name; docs/methods.md describes each. */
export const METHODS: Readonly<Record<string, Method>> = {
	...APP_METHODS,
	'admin.conversations.addMembers': adminConversationsAddMembers,
	'admin.invites.create': adminInvitesCreate,
	'admin.invites.list': adminInvitesList,
	'admin.invites.revoke': adminInvitesRevoke,
	'admin.push.list': adminPushList,
	'admin.push.replay': adminPushReplay,
	'admin.teams.create': adminTeamsCreate,
	'admin.teams.list': adminTeamsList,
	'admin.tokens.create': adminTokensCreate,
	'admin.tokens.list': adminTokensList,
	'admin.tokens.revoke': adminTokensRevoke,
	'admin.users.create': adminUsersCreate,
	'admin.users.deactivate': adminUsersDeactivate,
	'admin.users.list': adminUsersList,
	'admin.users.reactivate': adminUsersReactivate,
	'api.test': apiTest,
	'auth.revoke': authRevoke,
	'auth.sessions.add': authSessionsAdd,
	'auth.sessions.list': authSessionsList,
	'auth.sessions.revoke': authSessionsRevoke,
	'auth.test': authTest,
	'admin.unreads.verify': adminUnreadsVerify,
	'bots.info': botsInfo,
	'channels.mark': conversationsMark,
	'chat.delete': chatDelete,
	'chat.getPermalink': chatGetPermalink,
	'chat.meMessage': chatMeMessage,
	'chat.postMessage': chatPostMessage,
	'chat.deleteScheduledMessage': chatDeleteScheduledMessage,
	'chat.scheduleMessage': chatScheduleMessage,
	'chat.scheduledMessages.list': chatScheduledMessagesList,
	'chat.update': chatUpdate,
	'client.counts': clientCounts,
	'client.explain': clientExplain,
	'client.markAllRead': clientMarkAllRead,
	'client.sync': clientSync,
	'client.userBoot': clientUserBoot,
	'conversations.archive': conversationsArchive,
	'conversations.close': conversationsClose,
	'conversations.create': conversationsCreate,
	'conversations.history': conversationsHistory,
	'conversations.info': conversationsInfo,
	'conversations.invite': conversationsInvite,
	'conversations.join': conversationsJoin,
	'conversations.kick': conversationsKick,
	'conversations.leave': conversationsLeave,
	'conversations.list': conversationsList,
	'conversations.mark': conversationsMark,
	'conversations.markMessage': conversationsMarkMessage,
	'conversations.markUnread': conversationsMarkUnread,
	'conversations.members': conversationsMembers,
	'conversations.mute': conversationsMute,
	'conversations.open': conversationsOpen,
	'conversations.readers': conversationsReaders,
	'conversations.rename': conversationsRename,
	'conversations.replies': conversationsReplies,
	'conversations.setNotifications': conversationsSetNotifications,
	'conversations.setPurpose': conversationsSetPurpose,
	'conversations.setTopic': conversationsSetTopic,
	'conversations.unarchive': conversationsUnarchive,
	'conversations.unmute': conversationsUnmute,
	'conversations.unreads': conversationsUnreads,
	'dnd.endDnd': dndEndDnd,
	'dnd.endSnooze': dndEndSnooze,
	'dnd.info': dndInfo,
	'dnd.setSnooze': dndSetSnooze,
	'dnd.teamInfo': dndTeamInfo,
	'emoji.list': emojiList,
	'files.completeUploadExternal': filesCompleteUploadExternal,
	'files.delete': filesDelete,
	'files.getLinks': filesGetLinks,
	'files.getUploadURLExternal': filesGetUploadURLExternal,
	'files.info': filesInfo,
	'files.list': filesList,
	// Retired at Slack: the error names the replacement.
	'files.upload': filesUpload,
	'groups.mark': conversationsMark,
	'im.mark': conversationsMark,
	'inbox.list': inboxList,
	'invites.accept': invitesAccept,
	'invites.info': invitesInfo,
	'mpim.mark': conversationsMark,
	'pins.add': pinsAdd,
	'pins.list': pinsList,
	'pins.remove': pinsRemove,
	'push.devices.add': pushDevicesAdd,
	'push.devices.list': pushDevicesList,
	'push.devices.remove': pushDevicesRemove,
	'push.webKey': pushWebKey,
	'reactions.add': reactionsAdd,
	'reactions.get': reactionsGet,
	'reactions.list': reactionsList,
	'reactions.remove': reactionsRemove,
	'rtm.connect': rtmConnect,
	// Retired at Slack; older clients still call it.
	'rtm.start': rtmConnect,
	'search.all': searchAll,
	'search.files': searchFiles,
	'search.messages': searchMessages,
	'subscriptions.thread.add': subscriptionsThreadAdd,
	'subscriptions.thread.clearAll': subscriptionsThreadClearAll,
	'subscriptions.thread.get': subscriptionsThreadGet,
	'subscriptions.thread.getView': subscriptionsThreadGetView,
	'subscriptions.thread.mark': subscriptionsThreadMark,
	'subscriptions.thread.remove': subscriptionsThreadRemove,
	'team.info': teamInfo,
	'usergroups.list': usergroupsList,
	'users.conversations': usersConversations,
	'users.deletePhoto': usersDeletePhoto,
	'users.getPresence': usersGetPresence,
	'users.info': usersInfo,
	'users.list': usersList,
	'users.lookupByEmail': usersLookupByEmail,
	'users.prefs.get': usersPrefsGet,
	'users.prefs.set': usersPrefsSet,
	'users.profile.get': usersProfileGet,
	'users.profile.set': usersProfileSet,
	'users.setPhoto': usersSetPhoto,
	'users.setPresence': usersSetPresence,
};
