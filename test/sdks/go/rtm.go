package main

import (
	"fmt"
	"time"

	"github.com/slack-go/slack"
)

const patience = 30 * time.Second

// realTime checks a managed RTM connection: hello, events of other people, sending, and the latency that it measures.
func realTime(w world) {
	rtm := w.ada.NewRTM(slack.RTMOptionPingInterval(time.Second))
	go rtm.ManageConnection()

	var unread []string
	heard := func(what string, wanted func(data any) bool) error {
		deadline := time.After(patience)
		for {
			select {
			case event := <-rtm.IncomingEvents:
				switch data := event.Data.(type) {
				case *slack.UnmarshallingErrorEvent:
					unread = append(unread, data.Error())
				case *slack.ConnectionErrorEvent, *slack.InvalidAuthEvent:
					return fmt.Errorf("%s: %v", what, event.Data)
				}
				if wanted(event.Data) {
					return nil
				}
			case <-deadline:
				return fmt.Errorf("%s did not come within %s", what, patience)
			}
		}
	}

	check("hello", func() error {
		return heard("hello", func(data any) bool { _, ok := data.(*slack.HelloEvent); return ok })
	})
	if failed {
		return
	}
	check("who one is", func() error { return want("self", rtm.GetInfo().User.ID, w.adaID) })
	check("a message of another user", func() error {
		if _, _, err := w.grace.PostMessage(w.channel, slack.MsgOptionText("over here", false)); err != nil {
			return err
		}
		return heard("the message", func(data any) bool {
			message, ok := data.(*slack.MessageEvent)
			return ok && message.Text == "over here" && message.User == w.graceID && message.Channel == w.channel
		})
	})
	check("a message sent over the socket", func() error {
		rtm.SendMessage(rtm.NewOutgoingMessage("over the socket", w.channel))
		return heard("its acknowledgement", func(data any) bool {
			ack, ok := data.(*slack.AckMessage)
			return ok && ack.Text == "over the socket"
		})
	})
	check("channel_joined with the newest message", func() error {
		channel, err := w.grace.CreateConversation(slack.CreateConversationParams{ChannelName: "joined-by-go"})
		if err != nil {
			return err
		}
		if _, _, err := w.grace.PostMessage(channel.ID, slack.MsgOptionText("before you", false)); err != nil {
			return err
		}
		if _, err := w.grace.InviteUsersToConversation(channel.ID, w.adaID); err != nil {
			return err
		}
		return heard("channel_joined", func(data any) bool {
			joined, ok := data.(*slack.ChannelJoinedEvent)
			return ok && joined.Channel.ID == channel.ID
		})
	})
	check("latency", func() error {
		var latency time.Duration
		err := heard("a pong", func(data any) bool {
			report, ok := data.(*slack.LatencyReport)
			if ok {
				latency = report.Value
			}
			return ok
		})
		if err == nil && latency > time.Hour {
			return fmt.Errorf("the latency is %s", latency)
		}
		return err
	})
	check("every event can be read", func() error {
		if len(unread) > 0 {
			return fmt.Errorf("%d could not: %v", len(unread), unread)
		}
		return nil
	})
	_ = rtm.Disconnect()
}
