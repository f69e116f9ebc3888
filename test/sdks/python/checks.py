"""Checks of a server with slack_sdk: the Web API, and Socket Mode. Prints `ok <name>` for each check that passes."""

import os
import sys
import threading
import time
import urllib.request

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.webhook import WebhookClient

BASE = os.environ["TIDEMARK_URL"] + "/api/"
CHANNEL = os.environ["CHANNEL"]
PATIENCE = 30


def client(variable):
    return WebClient(token=os.environ[variable], base_url=BASE)


def ok(name, holds):
    if not holds:
        raise AssertionError(name)
    print("ok " + name, flush=True)


def web():
    ada, bot = client("ADA_TOKEN"), client("APP_BOT_TOKEN")
    ok("auth.test", ada.auth_test()["user_id"] == os.environ["ADA"])
    ts = ada.chat_postMessage(channel=CHANNEL, text="from Python")["ts"]
    ok("chat.update", ada.chat_update(channel=CHANNEL, ts=ts, text="edited")["text"] == "edited")
    ok("history", ada.conversations_history(channel=CHANNEL, limit=1)["messages"][0]["ts"] == ts)
    ok("pages", any(page["members"] for page in ada.users_list(limit=2)))
    try:
        ada.conversations_info(channel="C0000000000")
        ok("a refusal", False)
    except SlackApiError as error:
        ok("a refusal", error.response["error"] == "channel_not_found")
    bot.reactions_add(channel=CHANNEL, timestamp=ts, name="ocean")
    reactions = ada.reactions_get(channel=CHANNEL, timestamp=ts)["message"]["reactions"]
    ok("reactions", [reaction["name"] for reaction in reactions] == ["ocean"])
    ada.pins_add(channel=CHANNEL, timestamp=ts)
    ok("pins", ada.pins_list(channel=CHANNEL)["items"][0]["message"]["ts"] == ts)
    ok("search", ada.search_messages(query="nothing-like-it")["messages"]["matches"] == [])
    file = ada.files_upload_v2(channel=CHANNEL, content="low water at six", filename="tides.txt", title="Tides")["file"]
    shared = ada.conversations_history(channel=CHANNEL, limit=1)["messages"][0]
    ok("files", (shared["files"][0]["id"], shared["subtype"]) == (file["id"], "file_share"))
    private = urllib.request.Request(file["url_private"], headers={"Authorization": "Bearer " + bot.token})
    ok("the content of a file", urllib.request.urlopen(private).read() == b"low water at six")
    later = ada.chat_scheduleMessage(channel=CHANNEL, text="later", post_at=int(time.time()) + 3600)
    waiting = ada.chat_scheduledMessages_list(channel=CHANNEL)["scheduled_messages"]
    ok("scheduled messages", [one["id"] for one in waiting] == [later["scheduled_message_id"]])
    sent = bot.chat_postEphemeral(channel=CHANNEL, user=os.environ["ADA"], text="psst")
    ok("ephemeral", bool(sent["message_ts"]))
    answer = WebhookClient(os.environ["WEBHOOK_URL"]).send(text="from a webhook")
    ok("webhook", (answer.status_code, answer.body) == (200, "ok"))


def socket():
    ada, bot = client("ADA_TOKEN"), client("APP_BOT_TOKEN")
    heard, called, pressed = threading.Event(), threading.Event(), threading.Event()
    app = SocketModeClient(app_token=os.environ["APP_TOKEN"], web_client=bot)
    app.web_client.base_url = BASE

    def listen(connection, request):
        payload = None
        if request.type == "events_api" and request.payload["event"].get("text") == "hello socket":
            heard.set()
        if request.type == "slash_commands":
            payload = {"text": "tide " + request.payload["text"], "response_type": "in_channel"}
            called.set()
        if request.type == "interactive" and request.payload["actions"][0]["value"] == "spring":
            pressed.set()
        connection.send_socket_mode_response(SocketModeResponse(request.envelope_id, payload))

    app.socket_mode_request_listeners.append(listen)
    app.connect()
    ok("connected", app.is_connected())
    ada.chat_postMessage(channel=CHANNEL, text="hello socket")
    ok("an event", heard.wait(PATIENCE))
    ada.api_call("chat.command", params={"channel": CHANNEL, "command": "/tide", "text": "Dover"})
    ok("a command", called.wait(PATIENCE))
    texts = [message["text"] for message in ada.conversations_history(channel=CHANNEL, limit=3)["messages"]]
    ok("its answer", "tide Dover" in texts)
    button = {"type": "button", "action_id": "more", "value": "spring", "text": {"type": "plain_text", "text": "More"}}
    blocks = [{"type": "actions", "block_id": "tide", "elements": [button]}]
    ts = bot.chat_postMessage(channel=CHANNEL, text="press", blocks=blocks)["ts"]
    container = {"type": "message", "channel_id": CHANNEL, "message_ts": ts}
    action = {"block_id": "tide", "action_id": "more"}
    ada.api_call("blocks.actions", json={"container": container, "actions": [action]})
    ok("a button", pressed.wait(PATIENCE))
    app.close()


{"web": web, "socket": socket}[sys.argv[1]]()
