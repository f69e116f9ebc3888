import { isCluster } from '../cluster-places.ts';
import { type Config, unknownVariables } from '../config.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** Settings that are no settings, that contradict each other, or that lack what belongs to them. Pure. */

const ABOUT = 'settings';

export function settingsFindings(
	config: Config,
	environment: Readonly<Record<string, string | undefined>>,
): Finding[] {
	const findings = [
		...unknownVariables(environment).map((name) =>
			warn(ABOUT, `${name} is not a setting of Tidemark`, 'See tidemark serve --help for their names'),
		),
		...incomplete(config),
		...contradictions(config),
	];
	return findings.length > 0 ? findings : [ok(ABOUT, 'nothing unknown, nothing contradictory')];
}

function incomplete(config: Config): Finding[] {
	const findings: Finding[] = [];
	const need = (of: string, wanted: Readonly<Record<string, unknown>>): void => {
		for (const [name, value] of Object.entries(wanted))
			if (value === null) findings.push(bad(ABOUT, `${name} is missing`, `${of} needs it`));
	};
	if (isCluster(config))
		need('A cluster', {
			TIDEMARK_REDIS_URL: config.redisUrl,
			TIDEMARK_POSTGRES_URL: config.postgresUrl,
			TIDEMARK_KAFKA_BROKERS: config.kafkaBrokers,
			TIDEMARK_ADMIN_TOKEN: config.adminToken,
		});
	if (config.apnsKeyFile !== null)
		need('The key of APNs', {
			TIDEMARK_APNS_KEY_ID: config.apnsKeyId,
			TIDEMARK_APNS_TEAM_ID: config.apnsTeamId,
			TIDEMARK_APNS_TOPIC: config.apnsTopic,
		});
	return findings;
}

function contradictions({ jwtSecret, jwtJwks, requestsPerSecond, postsPerSecond }: Config): Finding[] {
	const findings: Finding[] = [];
	if (jwtSecret !== null && jwtJwks !== null)
		findings.push(
			bad(ABOUT, 'TIDEMARK_JWT_SECRET and TIDEMARK_JWT_JWKS are both set', 'Take one of them away'),
		);
	if (requestsPerSecond > 0 && (postsPerSecond === 0 || postsPerSecond > requestsPerSecond))
		findings.push(
			warn(
				ABOUT,
				'TIDEMARK_POSTS_PER_SECOND allows more than TIDEMARK_REQUESTS_PER_SECOND does',
				'Over sockets a post is a request too: raise the latter',
			),
		);
	return findings;
}
