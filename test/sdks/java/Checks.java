import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.slack.api.Slack;
import com.slack.api.SlackConfig;
import com.slack.api.methods.MethodsClient;
import com.slack.api.model.Conversation;
import com.slack.api.model.ConversationType;
import com.slack.api.model.Message;
import com.slack.api.model.User;
import com.slack.api.rtm.RTMClient;
import com.slack.api.rtm.message.Typing;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Calls a Tidemark server through Slack's Java client, of which only the address is changed. It prints one line for each check,
 * `ok <name>` or `not ok <name>: <why>`, and exits with 1 when a check failed.
 */
public final class Checks {
	private static final String URL = System.getenv("TIDEMARK_URL");
	private static final String CHANNEL = System.getenv("CHANNEL");
	private static final String CHANNEL_NAME = System.getenv("CHANNEL_NAME");
	private static final String ADA = System.getenv("ADA");
	private static final String GRACE = System.getenv("GRACE");
	private static final String BOT = System.getenv("BOT");
	private static final long PATIENCE_SECONDS = 30;

	private static boolean failed = false;

	private final Slack slack;
	private final MethodsClient ada;
	private final MethodsClient grace;
	private final MethodsClient bot;

	private Checks() {
		SlackConfig config = new SlackConfig();
		config.setMethodsEndpointUrlPrefix(URL + "/api/");
		slack = Slack.getInstance(config);
		ada = slack.methods(System.getenv("ADA_TOKEN"));
		grace = slack.methods(System.getenv("GRACE_TOKEN"));
		bot = slack.methods(System.getenv("BOT_TOKEN"));
	}

	private interface Check {
		void run() throws Exception;
	}

	/** Later checks run even if this one fails. */
	private static void check(String name, Check check) {
		try {
			check.run();
			System.out.println("ok " + name);
		} catch (Exception | AssertionError problem) {
			failed = true;
			System.out.println("not ok " + name + ": " + problem);
		}
	}

	private static void want(String what, Object got, Object wanted) {
		if (!Objects.equals(got, wanted)) throw new AssertionError(what + " is " + got + ", not " + wanted);
	}

	private static <T extends com.slack.api.methods.SlackApiTextResponse> T fine(T answer) {
		if (!answer.isOk()) throw new AssertionError("refused with " + answer.getError());
		return answer;
	}

	public static void main(String[] arguments) throws Exception {
		Checks checks = new Checks();
		if (arguments[0].equals("web")) {
			checks.people();
			checks.conversations();
			checks.messages();
			checks.content();
			checks.everythingElse();
		} else {
			checks.realTime();
		}
		System.out.flush();
		// The client's threads would keep the process alive.
		Runtime.getRuntime().halt(failed ? 1 : 0);
	}

	private void people() {
		check("api.test", () -> want("args", fine(ada.apiTest(r -> r.foo("bar"))).getArgs().getFoo(), "bar"));
		check("auth.test", () -> want("user", fine(ada.authTest(r -> r)).getUserId(), ADA));
		check("team.info", () -> want("name", fine(ada.teamInfo(r -> r)).getTeam().getName(), "Tests"));
		check("bots.info", () -> {
			String id = fine(bot.authTest(r -> r)).getBotId();
			want("user", fine(ada.botsInfo(r -> r.bot(id))).getBot().getUserId(), BOT);
		});
		check("users.list", () -> {
			List<User> users = fine(ada.usersList(r -> r.limit(9999))).getMembers();
			want("Slackbot", users.stream().anyMatch(user -> user.getId().equals("USLACKBOT")), true);
		});
		check("users.lookupByEmail", () -> {
			String email = System.getenv("GRACE_EMAIL");
			want("user", fine(ada.usersLookupByEmail(r -> r.email(email))).getUser().getId(), GRACE);
		});
		check("users.profile.set with a status", () -> {
			User.Profile status = new User.Profile();
			status.setStatusText("at lunch");
			status.setStatusEmoji(":sandwich:");
			fine(ada.usersProfileSet(r -> r.profile(status)));
			want("status", fine(grace.usersProfileGet(r -> r.user(ADA))).getProfile().getStatusText(), "at lunch");
			want("real name", fine(grace.usersInfo(r -> r.user(ADA))).getUser().getProfile().getRealName(), "Ada");
		});
		check("users.getPresence of oneself", () -> {
			var presence = fine(grace.usersGetPresence(r -> r.user(GRACE)));
			want("presence", presence.getPresence(), "away");
			want("connection_count", presence.getConnectionCount(), 0);
		});
		check("emoji.list, usergroups.list", () -> {
			fine(ada.emojiList(r -> r));
			fine(ada.usergroupsList(r -> r));
		});
		check("dnd", () -> {
			want("snooze", fine(grace.dndSetSnooze(r -> r.numMinutes(30))).isSnoozeEnabled(), true);
			want("dnd", fine(ada.dndInfo(r -> r.user(GRACE))).isDndEnabled(), true);
			fine(ada.dndTeamInfo(r -> r.users(List.of(GRACE, ADA))));
			fine(grace.dndEndSnooze(r -> r));
		});
	}

	private void conversations() {
		check("conversations.list beyond the largest page", () -> {
			var types = List.of(ConversationType.PUBLIC_CHANNEL, ConversationType.PRIVATE_CHANNEL, ConversationType.MPIM, ConversationType.IM);
			List<Conversation> channels = fine(ada.conversationsList(r -> r.types(types).limit(9999))).getChannels();
			want("the channel", channels.stream().anyMatch(one -> one.getId().equals(CHANNEL)), true);
		});
		check("conversations.info", () -> {
			Conversation channel = fine(ada.conversationsInfo(r -> r.channel(CHANNEL).includeNumMembers(true))).getChannel();
			want("name", channel.getName(), CHANNEL_NAME);
			want("members", channel.getNumOfMembers(), 3);
		});
		check("conversations.open of a direct message, with its latest message", () -> {
			String id = fine(ada.conversationsOpen(r -> r.users(List.of(GRACE)).returnIm(true))).getChannel().getId();
			String ts = fine(ada.chatPostMessage(r -> r.channel(id).text("hello"))).getTs();
			Conversation direct = fine(ada.conversationsOpen(r -> r.channel(id).returnIm(true))).getChannel();
			want("latest", direct.getLatest().getTs(), ts);
		});
		check("names of group messages", () -> {
			Conversation group = fine(ada.conversationsOpen(r -> r.users(List.of(GRACE, BOT)).returnIm(true))).getChannel();
			want("name", group.getName(), "mpdm-ada--bot--grace-1");
		});
		check("conversations.close", () -> {
			String id = fine(ada.conversationsOpen(r -> r.users(List.of(GRACE)))).getChannel().getId();
			fine(ada.conversationsClose(r -> r.channel(id)));
		});
	}

	private Message newest() throws Exception {
		return fine(ada.conversationsHistory(r -> r.channel(CHANNEL).limit(1))).getMessages().get(0);
	}

	private void messages() {
		check("chat.postMessage to #name and to a user", () -> {
			want("channel", fine(ada.chatPostMessage(r -> r.channel("#" + CHANNEL_NAME).text("by name"))).getChannel(), CHANNEL);
			fine(ada.chatPostMessage(r -> r.channel(GRACE).text("to a user")));
		});
		check("username and icon of a bot", () -> {
			fine(bot.chatPostMessage(r -> r.channel(CHANNEL).text("disk is full").username("Alerts").iconEmoji(":fire:")));
			Message message = newest();
			want("username", message.getUsername(), "Alerts");
			want("icon", message.getIcons().getEmoji(), ":fire:");
		});
		check("chat.meMessage", () -> {
			fine(ada.chatMeMessage(r -> r.channel(CHANNEL).text("waves")));
			want("subtype", newest().getSubtype(), "me_message");
		});
		check("threads, edits and deletes", () -> {
			String root = fine(ada.chatPostMessage(r -> r.channel(CHANNEL).text("root"))).getTs();
			String reply = fine(grace.chatPostMessage(r -> r.channel(CHANNEL).text("reply").threadTs(root))).getTs();
			fine(ada.chatUpdate(r -> r.channel(CHANNEL).ts(root).text("root, edited")));
			var thread = fine(ada.conversationsReplies(r -> r.channel(CHANNEL).ts(root))).getMessages();
			want("messages", thread.size(), 2);
			want("text", thread.get(0).getText(), "root, edited");
			fine(grace.chatDelete(r -> r.channel(CHANNEL).ts(reply)));
		});
		check("chat.getPermalink and conversations.mark", () -> {
			String ts = fine(ada.chatPostMessage(r -> r.channel(CHANNEL).text("linked"))).getTs();
			String link = fine(ada.chatGetPermalink(r -> r.channel(CHANNEL).messageTs(ts))).getPermalink();
			want("the link's address", link.startsWith(URL), true);
			fine(grace.conversationsMark(r -> r.channel(CHANNEL).ts(ts)));
		});
	}

	private void content() {
		check("reactions", () -> {
			String ts = fine(ada.chatPostMessage(r -> r.channel(CHANNEL).text("high water at noon"))).getTs();
			fine(grace.reactionsAdd(r -> r.channel(CHANNEL).timestamp(ts).name("ocean")));
			var message = fine(ada.reactionsGet(r -> r.channel(CHANNEL).timestamp(ts))).getMessage();
			want("users", message.getReactions().get(0).getUsers(), List.of(GRACE));
			want("items", fine(grace.reactionsList(r -> r)).getItems().get(0).getMessage().getTs(), ts);
			fine(grace.reactionsRemove(r -> r.channel(CHANNEL).timestamp(ts).name("ocean")));
		});
		check("pins", () -> {
			String ts = newest().getTs();
			fine(ada.pinsAdd(r -> r.channel(CHANNEL).timestamp(ts)));
			want("pin", fine(ada.pinsList(r -> r.channel(CHANNEL))).getItems().get(0).getMessage().getTs(), ts);
			fine(ada.pinsRemove(r -> r.channel(CHANNEL).timestamp(ts)));
		});
		check("files", () -> {
			String id = fine(ada.filesUploadV2(r -> r.channel(CHANNEL).filename("tides.txt").title("Tides").content("low water"))).getFile().getId();
			want("size", fine(grace.filesInfo(r -> r.file(id))).getFile().getSize(), 9);
			fine(ada.filesDelete(r -> r.file(id)));
		});
		check("search", () -> {
			want("query", fine(ada.searchMessages(r -> r.query("water"))).getQuery(), "water");
			fine(ada.searchAll(r -> r.query("water")));
		});
		check("scheduled messages", () -> {
			int at = (int) (System.currentTimeMillis() / 1000) + 3600;
			String id = fine(ada.chatScheduleMessage(r -> r.channel(CHANNEL).postAt(at).text("later"))).getScheduledMessageId();
			var waiting = fine(ada.chatScheduledMessagesList(r -> r.channel(CHANNEL))).getScheduledMessages();
			want("text", waiting.get(0).getText(), "later");
			fine(ada.chatDeleteScheduledMessage(r -> r.channel(CHANNEL).scheduledMessageId(id)));
		});
	}

	/** Parses the answers of the client's other methods into its types. */
	private void everythingElse() {
		check("the types of every other answer", () -> {
			String name = "sweep-" + System.nanoTime();
			String id = fine(ada.conversationsCreate(r -> r.name(name))).getChannel().getId();
			fine(grace.conversationsJoin(r -> r.channel(id)));
			fine(ada.conversationsInvite(r -> r.channel(id).users(List.of(BOT))));
			fine(ada.conversationsKick(r -> r.channel(id).user(BOT)));
			fine(ada.conversationsSetTopic(r -> r.channel(id).topic("tides")));
			fine(ada.conversationsSetPurpose(r -> r.channel(id).purpose("to know them")));
			fine(ada.conversationsRename(r -> r.channel(id).name(name + "-2")));
			want("members", fine(ada.conversationsMembers(r -> r.channel(id))).getMembers().size(), 2);
			fine(grace.conversationsLeave(r -> r.channel(id)));
			fine(ada.conversationsArchive(r -> r.channel(id)));
			fine(ada.conversationsUnarchive(r -> r.channel(id)));
			fine(ada.usersConversations(r -> r.types(List.of(ConversationType.PUBLIC_CHANNEL, ConversationType.IM, ConversationType.MPIM))));
			fine(ada.usersSetPresence(r -> r.presence("auto")));
			fine(ada.usersInfo(r -> r.user("USLACKBOT")));
			fine(ada.rtmStart(r -> r));
			fine(ada.rtmConnect(r -> r));
		});
	}

	private static JsonObject heard(BlockingQueue<String> frames, Predicate<JsonObject> wanted) throws Exception {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
		while (System.nanoTime() < deadline) {
			String text = frames.poll(1, TimeUnit.SECONDS);
			if (text == null) continue;
			JsonObject frame = JsonParser.parseString(text).getAsJsonObject();
			if (wanted.test(frame)) return frame;
		}
		throw new AssertionError("no such frame within " + PATIENCE_SECONDS + " s");
	}

	private static boolean has(JsonObject frame, String name, String value) {
		return frame.has(name) && frame.get(name).isJsonPrimitive() && frame.get(name).getAsString().equals(value);
	}

	private void realTime() throws Exception {
		BlockingQueue<String> frames = new LinkedBlockingQueue<>();
		RTMClient rtm = slack.rtmConnect(System.getenv("ADA_TOKEN"));
		rtm.addMessageHandler(frames::add);
		check("connecting, and hello", () -> {
			want("self", rtm.getConnectedBotUser().getId(), ADA);
			rtm.connect();
			heard(frames, frame -> has(frame, "type", "hello"));
		});
		check("a message of another user", () -> {
			fine(grace.chatPostMessage(r -> r.channel(CHANNEL).text("over here")));
			heard(frames, frame -> has(frame, "text", "over here") && has(frame, "user", GRACE));
		});
		check("a message sent over the socket, without an id as this client sends it", () -> {
			rtm.sendMessage(com.slack.api.rtm.message.Message.builder().channel(CHANNEL).text("over the socket").build().toJSONString());
			heard(frames, frame -> has(frame, "ok", "true") && has(frame, "text", "over the socket"));
		});
		check("typing", () -> rtm.sendMessage(Typing.builder().id(7L).channel(CHANNEL).build().toJSONString()));
		rtm.disconnect();
	}
}
