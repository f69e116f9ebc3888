/* Shared by the C programs: the part of WebSocket that short frames need in both directions; the clock. */
#ifndef WIRE_H
#define WIRE_H

#include <stdint.h>
#include <string.h>
#include <time.h>

enum { TEXT = 1, PING = 9, PONG = 10 };

#define MASKED_PAYLOAD_MOST 125
#define MASKED_MOST (MASKED_PAYLOAD_MOST + 6)

static inline uint64_t now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Writes the header of an unmasked text frame; returns its length. */
static inline size_t frame_header(unsigned char *out, size_t length) {
	out[0] = 0x81;
	if (length < 126) {
		out[1] = (unsigned char)length;
		return 2;
	}
	out[1] = 126;
	out[2] = (unsigned char)(length >> 8);
	out[3] = (unsigned char)(length & 255);
	return 4;
}

/* Writes a whole short frame of a client; returns its length. The mask is zeros, which leaves the bytes as they are. */
static inline size_t masked_frame(unsigned char *out, int opcode, const unsigned char *payload, size_t length) {
	memset(out, 0, 6);
	out[0] = (unsigned char)(0x80 | opcode);
	out[1] = (unsigned char)(0x80 | length);
	memcpy(out + 6, payload, length);
	return 6 + length;
}

/* The size of the unmasked frame at the start of `data`, 0 while it is not complete. */
static inline size_t frame_size(const unsigned char *data, size_t have, size_t *start) {
	if (have < 2) return 0;
	size_t length = data[1] & 127;
	*start = 2;
	if (length == 126) {
		if (have < 4) return 0;
		length = (size_t)data[2] << 8 | data[3];
		*start = 4;
	}
	return have < *start + length ? 0 : *start + length;
}

#endif
