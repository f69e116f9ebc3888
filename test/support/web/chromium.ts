import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/**
 * A real Chromium. If it is missing, Debian's is installed; if that is impossible, the tests fail and say what to do.
 * They are never skipped.
 */

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const HELP =
	'Install Chromium (Debian: apt-get install chromium), or set TIDEMARK_TEST_CHROMIUM to its path.';

async function installed(): Promise<string | undefined> {
	const places = [process.env.TIDEMARK_TEST_CHROMIUM, ...PLACES].filter((place) => place !== undefined);
	for (const place of places) {
		const isThere = await access(place).then(
			() => true,
			() => false,
		);
		if (isThere) return place;
	}
	return undefined;
}

async function run(...command: string[]): Promise<void> {
	const child = Bun.spawn(command, {
		env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
		stdio: ['ignore', 'ignore', 'inherit'],
	});
	if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed. ${HELP}`);
}

async function install(): Promise<string> {
	if (!Bun.which('apt-get') || process.getuid?.() !== 0)
		throw new Error(`There is no Chromium here. ${HELP}`);
	console.log('Installing Chromium for the browser tests, once: apt-get install chromium');
	// One at a time: scripts/services may install packages meanwhile.
	const apt = ['flock', join(tmpdir(), 'tidemark-apt.lock'), 'apt-get'];
	await run(...apt, 'update', '-qq');
	await run(...apt, 'install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-dejavu-core');
	const place = await installed();
	if (!place) throw new Error(`Chromium was installed, but not found. ${HELP}`);
	return place;
}

export const launchChromium = async (): Promise<Browser> =>
	chromium.launch({
		executablePath: (await installed()) ?? (await install()),
		// Chromium's own sandbox does not work as root, nor in most containers; the pages are ours.
		args: ['--no-sandbox', '--disable-dev-shm-usage'],
	});
