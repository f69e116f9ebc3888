import { ADDRESSES, isCluster } from '../cluster-addresses.ts';
import { type Config, missingSettings, unknownVariables } from '../config.ts';
import { bucketProblems } from '../file-contents.ts';
import { APNS_KEY_SETTINGS, SETTINGS, type SettingName } from '../settings.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** Finds settings that are unknown, incomplete or contradictory. Pure. */

const ABOUT = 'settings';

export function settingsFindings(
	config: Config,
	environment: Readonly<Record<string, string | undefined>>,
): Finding[] {
	const findings = [
		...unknownVariables(environment).map((name) =>
			warn(ABOUT, `${name} is not a setting of Tidemark`, 'See tidemark serve --help for all settings'),
		),
		...incomplete(config),
		...contradictions(config),
	];
	return findings.length > 0 ? findings : [ok(ABOUT, 'no unknown or contradictory settings')];
}

function incomplete(config: Config): Finding[] {
	const findings: Finding[] = [];
	const need = (of: string, wanted: readonly SettingName[]): void => {
		for (const name of missingSettings(config, wanted))
			findings.push(bad(ABOUT, `${name} is missing`, `${of} needs it`));
	};
	if (isCluster(config)) {
		need('A cluster', ADDRESSES);
		for (const name of missingSettings(config, ['adminToken']))
			findings.push(warn(ABOUT, `${name} is missing`, 'A gateway needs it; a worker does not'));
	}
	for (const problem of bucketProblems(config))
		findings.push(bad(ABOUT, problem, 'See docs/files.md, "Where the content is stored"'));
	if (config.apnsKeyFile !== null) need('The APNs key', APNS_KEY_SETTINGS);
	return findings;
}

function contradictions(config: Config): Finding[] {
	const { jwtSecret, jwtJwks, requestsPerSecond, postsPerSecond } = config;
	const findings: Finding[] = [];
	if (jwtSecret === null && jwtJwks === null)
		for (const name of ['jwtAudience', 'jwtIssuer'] as const)
			if (config[name] !== null)
				findings.push(
					warn(
						ABOUT,
						`${SETTINGS[name].environment} is set, but no JWTs are accepted`,
						'Set TIDEMARK_JWT_SECRET or TIDEMARK_JWT_JWKS',
					),
				);
	if (jwtSecret !== null && jwtJwks !== null)
		findings.push(bad(ABOUT, 'TIDEMARK_JWT_SECRET and TIDEMARK_JWT_JWKS are both set', 'Remove one of them'));
	if (requestsPerSecond > 0 && (postsPerSecond === 0 || postsPerSecond > requestsPerSecond))
		findings.push(
			warn(
				ABOUT,
				`TIDEMARK_POSTS_PER_SECOND is ${postsPerSecond === 0 ? 'unlimited (0), and thus ' : ''}higher than TIDEMARK_REQUESTS_PER_SECOND`,
				'A post over a socket counts as a request too: raise TIDEMARK_REQUESTS_PER_SECOND',
			),
		);
	return findings;
}
