/*
 * Many receiving clients in one small process. Reads the paths to connect to, one per line, until an empty line, and
 * prints `ready` when every socket is admitted. From then on, for every message whose text contains
 * `#<number>@<nanoseconds>#`, it prints how long the message took:
 *
 *     <number> <ns until half of the sockets had it> <ns until the last one had it>
 *
 * A socket is admitted when it got a first frame; with `socket.io` as the second argument, when it is connected to the
 * namespace.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "wire.h"

#define BUFFER 65536
#define MESSAGES 65536

struct client {
	int fd, upgraded, greeted;
	size_t have;
	unsigned char *rest;
};

static int total, greeted, speaks_socket_io;
static int received[MESSAGES];
static uint64_t half_at[MESSAGES];

static void send_frame(struct client *client, int opcode, const unsigned char *payload, size_t length) {
	unsigned char frame[MASKED_MOST];
	if (length > MASKED_PAYLOAD_MOST || write(client->fd, frame, masked_frame(frame, opcode, payload, length)) < 0) {
		perror("send_frame");
		exit(1);
	}
}

/* Handles Engine.IO's own packets, which are not messages. Returns whether this was one. */
static int was_engine_io(struct client *client, const unsigned char *payload, size_t length) {
	if (!speaks_socket_io) return 0;
	if (length == 1 && payload[0] == '2') send_frame(client, TEXT, (const unsigned char *)"3", 1);
	else if (length > 0 && payload[0] == '0') send_frame(client, TEXT, (const unsigned char *)"40", 2);
	else return 0;
	return 1;
}

static void handle_frame(struct client *client, int opcode, const unsigned char *payload, size_t length) {
	if (opcode == PING) send_frame(client, PONG, payload, length);
	if (opcode != TEXT || was_engine_io(client, payload, length)) return;
	if (!client->greeted) {
		client->greeted = 1;
		if (++greeted == total) {
			printf("ready\n");
			fflush(stdout);
		}
		return;
	}
	const unsigned char *tag = memchr(payload, '#', length);
	if (!tag) return;
	char *after;
	unsigned long number = strtoul((const char *)tag + 1, &after, 10), place = number % MESSAGES;
	if (*after != '@') return;
	uint64_t sent = strtoull(after + 1, NULL, 10);
	received[place]++;
	if (received[place] == (total + 1) / 2) half_at[place] = now_ns() - sent;
	if (received[place] < total) return;
	printf("%lu %llu %llu\n", number, (unsigned long long)half_at[place], (unsigned long long)(now_ns() - sent));
	fflush(stdout);
	received[place] = 0;
}

static void take(struct client *client) {
	static unsigned char data[BUFFER * 2 + 1];
	memcpy(data, client->rest, client->have);
	ssize_t got = read(client->fd, data + client->have, BUFFER);
	if (got <= 0) {
		if (got < 0 && errno == EAGAIN) return;
		/* At the end of a run the server exits first, and nobody reads this message. Otherwise it says why the run failed. */
		fprintf(stderr, "the server closed a socket, after %.*s\n", (int)client->have, (char *)client->rest);
		exit(1);
	}
	size_t length = client->have + (size_t)got, at = 0, start = 0, size;
	data[length] = 0;
	if (!client->upgraded) {
		char *end = strstr((char *)data, "\r\n\r\n");
		if (end) at = (size_t)(end + 4 - (char *)data);
		client->upgraded = end != NULL;
	}
	while (client->upgraded && (size = frame_size(data + at, length - at, &start)) > 0) {
		handle_frame(client, data[at] & 15, data + at + start, size - start);
		at += size;
	}
	client->have = length - at;
	if (client->have > 0) client->rest = realloc(client->rest, client->have);
	if (client->have > 0) memcpy(client->rest, data + at, client->have);
}

int main(int count, char **arguments) {
	if (count != 2 && count != 3) return 2;
	speaks_socket_io = count == 3 && strcmp(arguments[2], "socket.io") == 0;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	address.sin_port = htons((uint16_t)atoi(arguments[1]));
	int poll = epoll_create1(0), one = 1;
	char *path = NULL, request[1024];
	size_t room = 0;
	struct epoll_event event = {.events = EPOLLIN}, events[512];
	/* Read the whole list first: `ready` needs the number of sockets. */
	char **paths = NULL;
	for (ssize_t length; (length = getline(&path, &room, stdin)) > 1; total++) {
		path[length - 1] = 0;
		paths = realloc(paths, sizeof *paths * (size_t)(total + 1));
		paths[total] = strdup(path);
	}
	for (int i = 0; i < total; i++) {
		struct client *client = calloc(1, sizeof *client);
		client->fd = socket(AF_INET, SOCK_STREAM, 0);
		if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof address) < 0) {
			perror("connect");
			return 1;
		}
		setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		int length = snprintf(request, sizeof request,
			"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", paths[i]);
		if (write(client->fd, request, (size_t)length) < 0) perror("write");
		event.data.ptr = client;
		epoll_ctl(poll, EPOLL_CTL_ADD, client->fd, &event);
	}
	for (;;) {
		int ready = epoll_wait(poll, events, 512, -1);
		for (int i = 0; i < ready; i++) take(events[i].data.ptr);
	}
}
