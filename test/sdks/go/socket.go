package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
)

// socketMode checks an app's connection: an event and a slash command, both acknowledged.
func socketMode(w world) {
	api := slack.New(os.Getenv("APP_BOT_TOKEN"), slack.OptionAPIURL(w.url+"/api/"), slack.OptionAppLevelToken(os.Getenv("APP_TOKEN")))
	app := socketmode.New(api)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go app.RunContext(ctx)

	heard := func(what string, wanted func(event socketmode.Event) bool) error {
		deadline := time.After(patience)
		for {
			select {
			case event := <-app.Events:
				if wanted(event) {
					return nil
				}
			case <-deadline:
				return fmt.Errorf("%s did not come within %s", what, patience)
			}
		}
	}
	check("connected", func() error {
		return heard("hello", func(event socketmode.Event) bool { return event.Type == socketmode.EventTypeHello })
	})
	check("an event", func() error {
		if _, _, err := w.ada.PostMessage(w.channel, slack.MsgOptionText("hello socket", false)); err != nil {
			return err
		}
		return heard("the message", func(event socketmode.Event) bool {
			callback, ok := event.Data.(slackevents.EventsAPIEvent)
			if !ok {
				return false
			}
			app.Ack(*event.Request)
			message, ok := callback.InnerEvent.Data.(*slackevents.MessageEvent)
			return ok && message.Text == "hello socket"
		})
	})
	check("a command and its answer", func() error {
		answered := make(chan error, 1)
		go func() {
			// A method of user clients, which slack-go does not have.
			_, _, err := w.ada.PostMessage(w.channel, slack.UnsafeMsgOptionEndpoint(w.url+"/api/chat.command", func(values url.Values) {
				values["command"], values["text"] = []string{"/tide"}, []string{"Dover"}
			}))
			answered <- err
		}()
		err := heard("the command", func(event socketmode.Event) bool {
			command, ok := event.Data.(slack.SlashCommand)
			if ok {
				app.Ack(*event.Request, map[string]any{"text": "tide " + command.Text, "response_type": "in_channel"})
			}
			return ok
		})
		if err != nil {
			return err
		}
		if err := <-answered; err != nil {
			return err
		}
		page, err := w.ada.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: w.channel, Limit: 1})
		if err != nil {
			return err
		}
		return want("the newest message", page.Messages[0].Text, "tide Dover")
	})
}
