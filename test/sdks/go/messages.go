package main

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"
)

// messages checks posting to ids and names, and the fields of the returned messages.
func messages(w world) {
	post := func(client *slack.Client, channel, text string, options ...slack.MsgOption) (string, string, error) {
		return client.PostMessage(channel, append(options, slack.MsgOptionText(text, false))...)
	}
	newest := func(channel string) (slack.Message, error) {
		page, err := w.ada.GetConversationHistory(&slack.GetConversationHistoryParameters{
			ChannelID: channel, Limit: 1, IncludeAllMetadata: true,
		})
		if err != nil {
			return slack.Message{}, err
		}
		return page.Messages[0], nil
	}
	check("chat.postMessage to #name, to a name and to a user", func() error {
		for _, target := range []string{"#" + w.channelName, w.channelName} {
			channel, _, err := post(w.ada, target, "to "+target)
			if err := first(err, want("channel", channel, w.channel)); err != nil {
				return err
			}
		}
		channel, _, err := post(w.ada, w.graceID, "to a user")
		if err == nil && !strings.HasPrefix(channel, "D") {
			return fmt.Errorf("a user's message went to %s", channel)
		}
		return err
	})
	check("chat.postMessage to a name that is not there", func() error {
		_, _, err := post(w.ada, "#no-such-channel", "lost")
		if err == nil {
			return fmt.Errorf("it was taken for delivered")
		}
		return want("error", err.Error(), "channel_not_found")
	})
	check("username and icon of a bot", func() error {
		_, _, err := post(w.bot, w.channel, "disk is full", slack.MsgOptionUsername("Alerts"), slack.MsgOptionIconEmoji(":fire:"))
		if err != nil {
			return err
		}
		message, err := newest(w.channel)
		if err != nil {
			return err
		}
		return first(
			want("username", message.Username, "Alerts"),
			want("subtype", message.SubType, "bot_message"),
		)
	})
	check("metadata", func() error {
		given := slack.SlackMetadata{EventType: "deployed", EventPayload: map[string]any{"version": "3"}}
		if _, _, err := post(w.ada, w.channel, "deployed", slack.MsgOptionMetadata(given)); err != nil {
			return err
		}
		message, err := newest(w.channel)
		return first(err, want("event_type", message.Metadata.EventType, "deployed"))
	})
	check("chat.meMessage", func() error {
		_, _, _, err := w.ada.SendMessage(w.channel, slack.MsgOptionText("waves", false), slack.MsgOptionMeMessage())
		if err != nil {
			return err
		}
		message, err := newest(w.channel)
		return first(err, want("subtype", message.SubType, "me_message"))
	})
	check("threads, edits and deletes", func() error {
		_, root, err := post(w.ada, w.channel, "root")
		if err != nil {
			return err
		}
		_, reply, err := post(w.grace, w.channel, "reply", slack.MsgOptionTS(root))
		if err != nil {
			return err
		}
		if _, _, _, err := w.ada.UpdateMessage(w.channel, root, slack.MsgOptionText("root, edited", false)); err != nil {
			return err
		}
		thread, _, _, err := w.ada.GetConversationReplies(&slack.GetConversationRepliesParameters{ChannelID: w.channel, Timestamp: root})
		if err != nil {
			return err
		}
		if _, _, err := w.grace.DeleteMessage(w.channel, reply); err != nil {
			return err
		}
		return first(want("messages", len(thread), 2), want("text", thread[0].Text, "root, edited"))
	})
	check("chat.getPermalink and conversations.mark", func() error {
		_, ts, err := post(w.ada, w.channel, "linked")
		if err != nil {
			return err
		}
		link, err := w.ada.GetPermalink(&slack.PermalinkParameters{Channel: w.channel, Ts: ts})
		if err != nil {
			return err
		}
		if !strings.HasPrefix(link, w.url) {
			return fmt.Errorf("the link is %s", link)
		}
		return w.grace.MarkConversation(w.channel, ts)
	})
}
