import type { CliCommand } from './command.ts';
import { ConfigError } from './config.ts';
import { examine } from './doctor/doctor.ts';
import { lineOf } from './doctor/finding.ts';

/** `tidemark doctor`: what is wrong with this machine and its settings, and what to do about it. */

const SOCKETS = 1_000;

export const doctorCommand: CliCommand = {
	summary: 'Look at machine, settings, data and services, and say what is wrong. Changes nothing.',
	usage: '[--json] [--sockets 1000] [settings]',
	options: {
		json: { help: 'the findings as JSON', takesValue: false },
		sockets: { help: `as many sockets are expected (${SOCKETS})`, takesValue: true },
	},
	run: async ({ config, options }) => {
		const sockets = Number(options.sockets ?? SOCKETS);
		if (!Number.isSafeInteger(sockets) || sockets < 0)
			throw new ConfigError([`--sockets "${options.sockets}" is not a whole number`]);
		const findings = await examine(config, process.env, sockets);
		const isSound = findings.every(({ state }) => state !== 'bad');
		if (options.json === 'true') console.log(JSON.stringify({ ok: isSound, findings }, null, 2));
		else for (const finding of findings) console.log(lineOf(finding));
		return isSound ? 0 : 1;
	},
};
