import { atLeastBytes, origin, origins, portNumber, setting, text } from './setting.ts';

/** Settings of the server itself: address, data, administrator, tokens of your product, browsers. */
export const serverSettings = {
	host: setting('host', 'address to listen on', '0.0.0.0', text),
	port: setting(
		'port',
		{
			help: 'port to listen on; 0 picks a free one',
			helpFor: { client: 'port of the server on this machine, unless --url is given' },
		},
		8080,
		portNumber,
	),
	dataDir: setting(
		'data-dir',
		{
			help: 'directory for all data',
			helpFor: { client: 'data directory of the server, which holds the administrator’s token' },
		},
		'./data',
		text,
	),
	adminToken: setting(
		'admin-token',
		{
			help: 'the administrator’s token; if not set, `serve` generates one, prints it once and saves it in the data directory',
			helpFor: {
				cluster: 'the administrator’s token: the same on all gateways; workers need none',
				client: 'the administrator’s token of that server; if not set, the one in the data directory',
			},
		},
		null as string | null,
		atLeastBytes(16),
		true,
	),
	jwtSecret: setting(
		'jwt-secret',
		'secret that signs your product’s JWTs (HS256)',
		null as string | null,
		atLeastBytes(32),
		true,
	),
	jwtJwks: setting(
		'jwt-jwks',
		'JWKS that verifies your product’s JWTs: a URL or a file',
		null as string | null,
		text,
	),
	jwtAudience: setting(
		'jwt-audience',
		'required value in the claim `aud` of a JWT; if not set, `aud` is not checked',
		null as string | null,
		text,
	),
	jwtIssuer: setting(
		'jwt-issuer',
		'required value of the claim `iss` of a JWT; if not set, `iss` is not checked',
		null as string | null,
		text,
	),
	allowedOrigins: setting(
		'allowed-origins',
		'origins of web pages that may call the API (CORS), separated by commas; * allows any',
		null as readonly string[] | null,
		origins,
	),
	publicUrl: setting(
		'public-url',
		'address at which clients and apps reach this server, for links to files and response_url; if not set, links use the address that each client connected to. Set it if apps on other machines receive requests over HTTP',
		null as string | null,
		origin,
	),
} as const;
