import { join } from 'node:path';
import { build, describeSdk, SDKS } from '../support/sdk-programs.ts';

/** slack-go against the server: test/sdks/go has the checks. */

const NEEDS = 'Go 1.22 or newer, and a module proxy that has github.com/slack-go/slack';

describeSdk({
	name: 'slack-go',
	checks: { web: 29, rtm: 7, socket: 3 },
	build: async (directory) => {
		const binary = join(directory, 'checks');
		await build(['go', 'build', '-o', binary, '.'], join(SDKS, 'go'), NEEDS);
		return [binary];
	},
});
