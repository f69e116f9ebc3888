// Calls a Tidemark server through slack-go, of which only the address is changed. It prints one line for each check, `ok <name>`
// or `not ok <name>: <why>`, and exits with 1 when a check failed.
package main

import (
	"fmt"
	"os"

	"github.com/slack-go/slack"
)

// world is what the test prepared: two users and a bot of one workspace, all in one channel.
type world struct {
	url                       string
	ada, grace, bot           *slack.Client
	adaID, graceID, botUserID string
	graceEmail                string
	channel, channelName      string
}

var failed = false

// check runs one check and prints its outcome. Later checks run even if it failed.
func check(name string, run func() error) {
	if err := run(); err != nil {
		failed = true
		fmt.Printf("not ok %s: %v\n", name, err)
		return
	}
	fmt.Printf("ok %s\n", name)
}

func want(what string, got, wanted any) error {
	if got == wanted {
		return nil
	}
	return fmt.Errorf("%s is %#v, not %#v", what, got, wanted)
}

// first is the first error, if there is one.
func first(errors ...error) error {
	for _, err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}

func main() {
	url := os.Getenv("TIDEMARK_URL")
	client := func(token string) *slack.Client {
		return slack.New(os.Getenv(token), slack.OptionAPIURL(url+"/api/"))
	}
	w := world{
		url:         url,
		ada:         client("ADA_TOKEN"),
		grace:       client("GRACE_TOKEN"),
		bot:         client("BOT_TOKEN"),
		adaID:       os.Getenv("ADA"),
		graceID:     os.Getenv("GRACE"),
		botUserID:   os.Getenv("BOT"),
		graceEmail:  os.Getenv("GRACE_EMAIL"),
		channel:     os.Getenv("CHANNEL"),
		channelName: os.Getenv("CHANNEL_NAME"),
	}
	switch os.Args[1] {
	case "web":
		people(w)
		conversations(w)
		messages(w)
		content(w)
		rest(w)
	case "rtm":
		realTime(w)
	case "socket":
		socketMode(w)
	}
	if failed {
		os.Exit(1)
	}
}
