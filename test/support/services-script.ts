const SCRIPT = new URL('../../scripts/services', import.meta.url).pathname;

/** Calls scripts/services for services of this process alone, in a directory of its own. Returns what the script prints. */
export function servicesScript(
	directory: string,
	settings: Readonly<Record<string, string>> = {},
): (...args: readonly string[]) => Promise<string> {
	const env: Record<string, string | undefined> = {
		...process.env,
		TIDEMARK_SERVICES_DIR: directory,
		// If this process is killed, the next call of the script removes its services.
		TIDEMARK_SERVICES_OWNER: String(process.pid),
		...settings,
	};
	// With these variables, the script would use running services instead of starting new ones.
	for (const name of Object.keys(env)) if (/^TIDEMARK_TEST_.*_(URL|BROKERS)$/.test(name)) delete env[name];
	return async (...args) => {
		const child = Bun.spawn([SCRIPT, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
		const output = await new Response(child.stdout).text();
		if ((await child.exited) !== 0) throw new Error(`scripts/services ${args.join(' ')} failed`);
		return output;
	};
}
