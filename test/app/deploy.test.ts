import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { YAML } from 'bun';
import { SETTINGS } from '../../src/app/settings.ts';

/** The container examples use only existing settings and roles. */

const ROOT = join(import.meta.dir, '..', '..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const known = new Set<string>(Object.values(SETTINGS).map(({ environment }) => environment));

for (const file of [
	'deploy/compose.yaml',
	'deploy/kubernetes.yaml',
	'deploy/Dockerfile',
	'docs/backup.md',
	'docs/commands.md',
	'docs/operations.md',
	'docs/run-a-cluster.md',
	'docs/settings.md',
]) {
	test(`${file} uses only existing settings`, () => {
		const named = new Set(textOf(file).match(/\bTIDEMARK_(?!TEST_)[A-Z_]*[A-Z]\b/g));
		expect(named.size).toBeGreaterThan(0);
		expect([...named].filter((name) => !known.has(name))).toEqual([]);
	});
}

test('docs/settings.md has every setting', () => {
	const text = textOf('docs/settings.md');
	expect([...known].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test('the compose file runs two processes of each role, and the services of a cluster', () => {
	const { services } = YAML.parse(textOf('deploy/compose.yaml')) as {
		services: Record<string, { command?: string[]; environment?: Record<string, string> }>;
	};
	const roles = Object.values(services).filter(({ environment }) => environment?.TIDEMARK_REDIS_URL);
	expect(roles.map(({ command }) => command?.[0]).sort()).toEqual(['gateway', 'gateway', 'worker', 'worker']);
	for (const { environment } of roles)
		expect(Object.keys(environment ?? {})).toEqual(
			expect.arrayContaining(['TIDEMARK_POSTGRES_URL', 'TIDEMARK_KAFKA_BROKERS', 'TIDEMARK_ADMIN_TOKEN']),
		);
});

interface Manifest {
	readonly kind: string;
	readonly spec: { readonly template: { readonly spec: Pod } };
}

interface Pod {
	readonly enableServiceLinks?: boolean;
	readonly containers: readonly {
		readonly args: readonly string[];
		readonly image: string;
		readonly imagePullPolicy?: string;
	}[];
}

test('the Kubernetes example runs both roles from images with a version, and its service sets no TIDEMARK variables', () => {
	const documents = textOf('deploy/kubernetes.yaml')
		.split(/^---$/m)
		.map((text) => YAML.parse(text) as Manifest);
	expect(documents.map(({ kind }) => kind)).toEqual(['Deployment', 'Deployment', 'Service']);
	const pods = documents.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.template.spec);
	expect(pods.map(({ containers }) => containers[0]?.args)).toEqual([['gateway'], ['worker']]);
	for (const { enableServiceLinks, containers } of pods) {
		expect(enableServiceLinks).toBe(false);
		for (const { image, imagePullPolicy } of containers) {
			expect(image).toMatch(/:\d+\.\d+\.\d+$/);
			expect(imagePullPolicy).toBe('IfNotPresent');
		}
	}
});

for (const file of ['deploy/nginx.conf', 'docs/operations.md']) {
	test(`the proxy in ${file} does not expose the paths that need no token`, () => {
		const [, paths = '', rules = ''] = /location ~ \^\/\(([\w|]+)\)\$ \{([^}]*)\}/.exec(textOf(file)) ?? [];
		expect(paths.split('|').sort()).toEqual(['healthz', 'metrics', 'readyz']);
		expect(rules).toMatch(/allow [\d./]+;[\s\d./;a-z]*deny all;/);
	});

	test(`the proxy in ${file} upgrades the sockets of clients and apps`, () => {
		for (const path of ['/rtm/ticket', '/link/ticket'])
			expect(rulesFor(path, textOf(file))).toContain('proxy_set_header Upgrade $http_upgrade;');
	});
}

/**
 * The rules that nginx applies to a path: those of the first matching pattern, otherwise of the longest matching prefix.
 */
function rulesFor(path: string, text: string): string {
	const locations = [...text.matchAll(/location (~ )?(\S+) \{([^}]*)\}/g)];
	const byPattern = locations.find(([, isPattern, where = '']) => isPattern && new RegExp(where).test(path));
	const byPrefix = locations
		.filter(([, isPattern, where = '']) => !isPattern && path.startsWith(where))
		.sort(([, , a = ''], [, , b = '']) => b.length - a.length)[0];
	return (byPattern ?? byPrefix)?.[3] ?? '';
}
