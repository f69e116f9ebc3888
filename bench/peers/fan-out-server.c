/*
 * The fan-out peer: the cost of one message to many sockets if nothing else is done. It upgrades every connection, and
 * writes the body of each POST, framed once, to every socket in a loop.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "wire.h"

#define MOST 65536
#define REQUEST_MOST 8192

static int sockets[MOST], socket_count;
static char *pending[MOST];
static size_t pending_length[MOST];

/* The accept value of RFC 6455 for the one key that these clients send. */
static const char UPGRADED[] =
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
static const unsigned char HELLO[] = "\x81\x10{\"type\":\"hello\"}";
static const char DONE[] = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ok\":true}";

static void fan_out(const char *body, size_t length) {
	static unsigned char frame[REQUEST_MOST + 4];
	size_t header = frame_header(frame, length);
	memcpy(frame + header, body, length);
	for (int i = 0; i < socket_count; i++)
		if (write(sockets[i], frame, header + length) < 0 && errno != EAGAIN) perror("write");
}

static void take(int fd) {
	if (fd >= MOST) return;
	if (!pending[fd]) pending[fd] = malloc(REQUEST_MOST + 1);
	ssize_t got = read(fd, pending[fd] + pending_length[fd], REQUEST_MOST - pending_length[fd]);
	if (got <= 0) {
		if (got == 0 || errno != EAGAIN) close(fd);
		return;
	}
	pending_length[fd] += (size_t)got;
	pending[fd][pending_length[fd]] = 0;
	char *end = strstr(pending[fd], "\r\n\r\n");
	if (!end) return;
	if (strncmp(pending[fd], "GET ", 4) == 0) {
		if (write(fd, UPGRADED, sizeof UPGRADED - 1) < 0 || write(fd, HELLO, sizeof HELLO - 1) < 0) perror("write");
		sockets[socket_count++] = fd;
		free(pending[fd]);
		pending[fd] = NULL;
		pending_length[fd] = 0;
		return;
	}
	char *header = strcasestr(pending[fd], "content-length:");
	size_t length = header ? (size_t)atol(header + 15) : 0;
	size_t whole = (size_t)(end + 4 - pending[fd]) + length;
	if (pending_length[fd] < whole) return;
	fan_out(end + 4, length);
	if (write(fd, DONE, sizeof DONE - 1) < 0) perror("write");
	pending_length[fd] = 0;
}

int main(void) {
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 1024) < 0) {
		perror("listen");
		return 1;
	}
	getsockname(listener, (struct sockaddr *)&address, &size);
	printf("port %d\n", ntohs(address.sin_port));
	fflush(stdout);
	int poll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
	epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		int ready = epoll_wait(poll, events, 256, -1);
		for (int i = 0; i < ready; i++) {
			if (events[i].data.fd != listener) {
				take(events[i].data.fd);
				continue;
			}
			int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
			if (fd < 0) continue;
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
			event.events = EPOLLIN;
			event.data.fd = fd;
			epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
		}
	}
}
