import { join } from 'node:path';
import { build, describeSdk, SDKS } from '../support/sdk-programs.ts';

/** Slack's Java client against the server: test/sdks/java has the checks. */

const NEEDS = 'a JDK of Java 17 or newer, Maven, and a repository that has com.slack.api:slack-api-client';

describeSdk({
	name: 'Slack’s Java client',
	checks: { web: 26, rtm: 4 },
	build: async (directory) => {
		const [jars, classes] = [join(directory, 'jars'), join(directory, 'classes')];
		const source = join(SDKS, 'java');
		await build(
			['mvn', '-B', '-q', 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`],
			source,
			NEEDS,
		);
		await build(['javac', '-cp', `${jars}/*`, '-d', classes, 'Checks.java'], source, NEEDS);
		return ['java', '-XX:TieredStopAtLevel=1', '-cp', `${jars}/*:${classes}`, 'Checks'];
	},
});
