/* What the C peers share: as much of WebSocket as one frame each way needs, and the clock. */
#ifndef WIRE_H
#define WIRE_H

#include <stdint.h>
#include <string.h>
#include <time.h>

static inline uint64_t now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Writes the header of an unmasked text frame; answers its length. */
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
