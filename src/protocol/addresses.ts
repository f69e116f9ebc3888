/**
 * Addresses of this server inside messages. A message is stored and published once, while each client reaches the server by an address of
 * its own. So stored addresses begin with an origin that no host has, and whatever leaves the server gets the origin of its reader in its place.
 * The origin is never the author's: a client sends its token to these addresses.
 */

/** RFC 6761: `.invalid` never resolves. */
export const ANY_ORIGIN = 'https://origin.tidemark.invalid';

/** JSON with the reader's origin (`https://host`, without a slash at the end) in its addresses. */
export const addressedTo = (origin: string, json: string): string =>
	json.includes(ANY_ORIGIN) ? json.replaceAll(ANY_ORIGIN, origin) : json;
