package main

import (
	"fmt"
	"time"

	"github.com/slack-go/slack"
)

// rest parses the answers of slack-go's other methods into its types.
func rest(w world) {
	check("the types of every other answer", func() error {
		name := fmt.Sprintf("sweep-%d", time.Now().UnixNano())
		channel, err := w.ada.CreateConversation(slack.CreateConversationParams{ChannelName: name})
		if err != nil {
			return err
		}
		id := channel.ID
		calls := []func() error{
			func() error { _, _, _, err := w.grace.JoinConversation(id); return err },
			func() error { return w.ada.KickUserFromConversation(id, w.graceID) },
			func() error { _, _, _, err := w.grace.JoinConversation(id); return err },
			func() error { _, err := w.ada.SetTopicOfConversation(id, "tides"); return err },
			func() error { _, err := w.ada.SetPurposeOfConversation(id, "to know them"); return err },
			func() error { _, err := w.ada.RenameConversation(id, name+"-2"); return err },
			func() error {
				members, _, err := w.ada.GetUsersInConversation(&slack.GetUsersInConversationParameters{ChannelID: id})
				return first(err, want("members", len(members), 2))
			},
			func() error { _, err := w.grace.LeaveConversation(id); return err },
			func() error { return w.ada.ArchiveConversation(id) },
			func() error { return w.ada.UnArchiveConversation(id) },
			func() error {
				types := []string{"public_channel", "private_channel", "mpim", "im"}
				_, _, err := w.ada.GetConversationsForUser(&slack.GetConversationsForUserParameters{Types: types})
				return err
			},
			func() error { return w.ada.SetUserPresence("auto") },
			func() error { _, _, err := w.ada.Search("water", slack.NewSearchParameters()); return err },
			func() error { _, err := w.ada.GetUserPrefs(); return err },
		}
		for number, call := range calls {
			if err := call(); err != nil {
				return fmt.Errorf("call %d: %w", number, err)
			}
		}
		return nil
	})
}
