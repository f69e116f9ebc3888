/**
 * Links to this server inside messages and requests to apps. A message is stored and published once, but clients
 * reach the server at different addresses. So links use a placeholder origin, and everything that leaves the server
 * gets the origin of its receiver. Never the author's origin: clients send their token to these links, and apps
 * their answers.
 */

/** RFC 6761: `.invalid` never resolves. */
export const ANY_ORIGIN = 'https://origin.tidemark.invalid';

/** Replaces the placeholder with the receiver's origin (`https://host`, without a trailing slash). */
export const withOrigin = (origin: string, json: string): string =>
	json.includes(ANY_ORIGIN) ? json.replaceAll(ANY_ORIGIN, origin) : json;
