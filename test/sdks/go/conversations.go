package main

import (
	"fmt"

	"github.com/slack-go/slack"
)

// conversations checks channels and direct messages as typed objects, above all their newest message.
func conversations(w world) {
	check("conversations.list beyond the largest page", func() error {
		channels, _, err := w.ada.GetConversations(&slack.GetConversationsParameters{
			Limit: 9999,
			Types: []string{"public_channel", "private_channel", "mpim", "im"},
		})
		if err != nil {
			return err
		}
		for _, channel := range channels {
			if channel.ID == w.channel {
				return want("name", channel.Name, w.channelName)
			}
		}
		return fmt.Errorf("%s is not among %d", w.channel, len(channels))
	})
	check("conversations.info", func() error {
		channel, err := w.ada.GetConversationInfo(&slack.GetConversationInfoInput{ChannelID: w.channel})
		if err != nil {
			return err
		}
		return first(want("is_member", channel.IsMember, true), want("is_channel", channel.IsChannel, true))
	})
	check("conversations.open of a direct message, with its latest message", func() error {
		open := &slack.OpenConversationParameters{Users: []string{w.graceID}, ReturnIM: true}
		direct, _, _, err := w.ada.OpenConversation(open)
		if err != nil {
			return err
		}
		_, ts, err := w.ada.PostMessage(direct.ID, slack.MsgOptionText("hello", false))
		if err != nil {
			return err
		}
		again, _, _, err := w.ada.OpenConversation(open)
		if err != nil {
			return err
		}
		if again.Latest == nil {
			return fmt.Errorf("no latest message")
		}
		return first(want("latest", again.Latest.Timestamp, ts), want("text", again.Latest.Text, "hello"))
	})
	check("names of group messages", func() error {
		open := &slack.OpenConversationParameters{Users: []string{w.graceID, w.botUserID}, ReturnIM: true}
		group, _, _, err := w.ada.OpenConversation(open)
		if err != nil {
			return err
		}
		return want("name", group.Name, "mpdm-ada--bot--grace-1")
	})
	check("conversations.close", func() error {
		direct, _, _, err := w.ada.OpenConversation(&slack.OpenConversationParameters{Users: []string{w.graceID}})
		if err != nil {
			return err
		}
		_, _, err = w.ada.CloseConversation(direct.ID)
		return err
	})
}
