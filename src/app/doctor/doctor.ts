import { givenAddresses, isCluster } from '../cluster-addresses.ts';
import type { Config } from '../config.ts';
import { directoryFindings } from './directory.ts';
import { bad, type Finding } from './finding.ts';
import { keyFindings } from './keys.ts';
import { filesFinding, judgeClock, portFinding } from './machine.ts';
import type { ServiceFindings } from './services.ts';
import { settingsFindings } from './settings.ts';

/** Checks everything that a server needs to start with these settings. Changes nothing. */
export async function examine(
	config: Config,
	environment: Readonly<Record<string, string | undefined>>,
	sockets: number,
): Promise<Finding[]> {
	const { host, port, dataDir } = config;
	const cluster = isCluster(config);
	const directory = cluster ? { findings: [], newestMs: null } : await directoryFindings(dataDir);
	const services = cluster ? await servicesOf(config) : [];
	return [
		...settingsFindings(config, environment),
		...directory.findings,
		...services.map(({ finding }) => finding),
		await portFinding(host, port),
		await filesFinding(sockets),
		judgeClock(Date.now(), directory.newestMs, clocksOf(services)),
		...(await keyFindings(config)),
	];
}

async function servicesOf(config: Config): Promise<ServiceFindings[]> {
	const problems: string[] = [];
	const { redis, postgres, kafka } = givenAddresses(config, problems);
	// Imported only for a cluster: loading the clients of its services is slow.
	const { kafkaFinding, logFindings, postgresFinding, redisFinding } = await import('./services.ts');
	const found: ServiceFindings[] = await Promise.all([
		...problems.map(async (problem) => ({
			finding: bad('settings', problem, 'Correct or remove the setting'),
		})),
		...(redis === null ? [] : [redisFinding(redis)]),
		...(postgres === null ? [] : [postgresFinding(postgres, config.installation)]),
		...(kafka === null ? [] : [kafkaFinding(config, kafka).then((finding) => ({ finding }))]),
	]);
	const answers = (about: string): boolean =>
		found.some(({ finding }) => finding.about === about && finding.state !== 'bad');
	if (postgres === null || kafka === null || !answers('postgresql') || !answers('kafka')) return found;
	const ofLog = await logFindings(config, { postgres, kafka });
	return [...found, ...ofLog.map((finding) => ({ finding }))];
}

/** What each service's clock shows now, from the difference measured when it answered. */
function clocksOf(services: readonly ServiceFindings[]): Record<string, number> {
	const now = Date.now();
	return Object.fromEntries(
		services.flatMap(({ finding, clock }) =>
			clock ? [[finding.about, now + clock.theirs - clock.ours] as const] : [],
		),
	);
}
