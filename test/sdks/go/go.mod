module tidemark.test/sdks

go 1.22

require github.com/slack-go/slack v0.17.3

require github.com/gorilla/websocket v1.5.3 // indirect
