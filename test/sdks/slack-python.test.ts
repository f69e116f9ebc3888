import { join } from 'node:path';
import { build, describeSdk, SDKS } from '../support/sdk-programs.ts';

/** slack_sdk for Python, with its Socket Mode client, against the server: test/sdks/python has the checks. */

const SLACK_SDK = 'slack_sdk==3.46.0';
const NEEDS = 'Python 3.9 or newer with pip, and a package index that has slack_sdk';

describeSdk({
	name: 'slack_sdk for Python',
	checks: { web: 13, socket: 5 },
	build: async (directory) => {
		const install = [
			'python3',
			'-m',
			'pip',
			'install',
			'--quiet',
			'--no-deps',
			// Python compiles a module when it is first imported.
			'--no-compile',
			'--disable-pip-version-check',
			'--target',
			directory,
			SLACK_SDK,
		];
		await build(install, directory, NEEDS);
		return ['env', `PYTHONPATH=${directory}`, 'python3', join(SDKS, 'python', 'checks.py')];
	},
});
