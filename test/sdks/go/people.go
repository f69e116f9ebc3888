package main

import (
	"fmt"

	"github.com/slack-go/slack"
)

// people checks the list of users, their details, and their profiles.
func people(w world) {
	check("auth.test", func() error {
		who, err := w.ada.AuthTest()
		if err != nil {
			return err
		}
		return first(want("user", who.UserID, w.adaID), want("url", who.URL, w.url+"/"))
	})
	check("team.info", func() error {
		team, err := w.ada.GetTeamInfo()
		if err != nil {
			return err
		}
		return want("name", team.Name, "Tests")
	})
	check("bots.info", func() error {
		who, err := w.bot.AuthTest()
		if err != nil {
			return err
		}
		bot, err := w.ada.GetBotInfo(slack.GetBotInfoParameters{Bot: who.BotID})
		if err != nil {
			return err
		}
		return first(want("bot", bot.ID, who.BotID), want("user", bot.UserID, w.botUserID))
	})
	check("users.list", func() error {
		users, err := w.ada.GetUsers()
		if err != nil {
			return err
		}
		for _, user := range users {
			if user.ID == "USLACKBOT" {
				return nil
			}
		}
		return fmt.Errorf("no USLACKBOT among %d users", len(users))
	})
	check("users.info of Slackbot", func() error {
		user, err := w.ada.GetUserInfo("USLACKBOT")
		if err != nil {
			return err
		}
		return want("name", user.Name, "slackbot")
	})
	check("users.lookupByEmail", func() error {
		user, err := w.ada.GetUserByEmail(w.graceEmail)
		if err != nil {
			return err
		}
		return want("user", user.ID, w.graceID)
	})
	check("users.profile.set with a status", func() error {
		if err := w.ada.SetUserCustomStatus("at lunch", ":sandwich:", 0); err != nil {
			return err
		}
		profile, err := w.grace.GetUserProfile(&slack.GetUserProfileParameters{UserID: w.adaID})
		if err != nil {
			return err
		}
		return first(
			want("status_text", profile.StatusText, "at lunch"),
			want("status_emoji", profile.StatusEmoji, ":sandwich:"),
		)
	})
	check("users.getPresence of oneself", func() error {
		presence, err := w.grace.GetUserPresence(w.graceID)
		if err != nil {
			return err
		}
		return first(
			want("presence", presence.Presence, "away"),
			want("connection_count", presence.ConnectionCount, 0),
			want("manual_away", presence.ManualAway, false),
		)
	})
	check("emoji.list", func() error { _, err := w.ada.GetEmoji(); return err })
	check("usergroups.list", func() error { _, err := w.ada.GetUserGroups(); return err })
	check("dnd", func() error {
		status, err := w.grace.SetSnooze(30)
		if err != nil {
			return err
		}
		if err := want("snooze_enabled", status.SnoozeEnabled, true); err != nil {
			return err
		}
		seen, err := w.ada.GetDNDInfo(&w.graceID)
		if err != nil {
			return err
		}
		ended, endError := w.grace.EndSnooze()
		if endError != nil {
			return endError
		}
		return first(want("dnd_enabled", seen.Enabled, true), want("snooze_enabled", ended.SnoozeEnabled, false))
	})
}
