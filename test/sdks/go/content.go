package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// content checks reactions, pins, files, search and scheduled messages.
func content(w world) {
	_, ts, err := w.ada.PostMessage(w.channel, slack.MsgOptionText("high water at noon", false))
	if err != nil {
		fmt.Printf("not ok a message: %v\n", err)
		failed = true
		return
	}
	message := slack.NewRefToMessage(w.channel, ts)
	check("reactions", func() error {
		if err := w.grace.AddReaction("ocean", message); err != nil {
			return err
		}
		found, err := w.ada.GetReactions(message, slack.NewGetReactionsParameters())
		if err != nil {
			return err
		}
		if len(found) != 1 || found[0].Name != "ocean" || found[0].Users[0] != w.graceID {
			return fmt.Errorf("the reactions are %v", found)
		}
		items, _, err := w.grace.ListReactions(slack.NewListReactionsParameters())
		if err != nil {
			return err
		}
		return first(want("items", len(items), 1), want("its message", items[0].Message.Timestamp, ts), w.grace.RemoveReaction("ocean", message))
	})
	check("pins", func() error {
		if err := w.ada.AddPin(w.channel, message); err != nil {
			return err
		}
		items, _, err := w.ada.ListPins(w.channel)
		if err != nil {
			return err
		}
		return first(want("pins", len(items), 1), want("its message", items[0].Message.Timestamp, ts), w.ada.RemovePin(w.channel, message))
	})
	check("files", func() error {
		const text = "low water at six"
		uploaded, err := w.ada.UploadFileV2(slack.UploadFileV2Parameters{
			Channel: w.channel, Reader: strings.NewReader(text), FileSize: len(text), Filename: "tides.txt", Title: "Tides",
		})
		if err != nil {
			return err
		}
		file, _, _, err := w.grace.GetFileInfo(uploaded.ID, 0, 0)
		if err != nil {
			return err
		}
		var content strings.Builder
		if err := w.grace.GetFile(file.URLPrivateDownload, &content); err != nil {
			return err
		}
		return first(want("title", file.Title, "Tides"), want("content", content.String(), text), w.ada.DeleteFile(file.ID))
	})
	check("search.messages", func() error {
		deadline := time.Now().Add(patience)
		for {
			found, err := w.ada.SearchMessages("high water in:#"+w.channelName, slack.NewSearchParameters())
			if err != nil {
				return err
			}
			if len(found.Matches) == 1 {
				return first(want("ts", found.Matches[0].Timestamp, ts), want("channel", found.Matches[0].Channel.ID, w.channel))
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("%d matches", len(found.Matches))
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	check("scheduled messages", func() error {
		at := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
		_, _, err := w.ada.ScheduleMessage(w.channel, at, slack.MsgOptionText("later", false))
		if err != nil {
			return err
		}
		waiting, _, err := w.ada.GetScheduledMessages(&slack.GetScheduledMessagesParameters{Channel: w.channel})
		if err != nil {
			return err
		}
		if len(waiting) != 1 || waiting[0].Text != "later" {
			return fmt.Errorf("%v wait", waiting)
		}
		_, err = w.ada.DeleteScheduledMessage(&slack.DeleteScheduledMessageParameters{
			Channel: w.channel, ScheduledMessageID: waiting[0].ID,
		})
		return err
	})
}
