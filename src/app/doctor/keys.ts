import { jwtVerifier } from '../../gateway/auth/jwt.ts';
import { messageOfError } from '../../model/errors.ts';
import { readKey } from '../../push/apns/token.ts';
import { readServiceAccount } from '../../push/fcm/token.ts';
import type { Config } from '../config.ts';
import { bad, type Finding, ok } from './finding.ts';

/** Checks that key files are readable and valid, without any request to the network. */

export async function keyFindings({
	apnsKeyFile,
	fcmServiceAccountFile,
	jwtJwks,
}: Config): Promise<Finding[]> {
	const checks: Promise<Finding>[] = [];
	const check = (about: string, file: string, read: () => Promise<unknown>): void => {
		checks.push(
			read().then(
				() => ok(about, `${file} is readable and valid`),
				(error) => bad(about, messageOfError(error), 'Fix the file, its permissions, or the setting'),
			),
		);
	};
	if (apnsKeyFile !== null) check('apns', apnsKeyFile, () => readKey(apnsKeyFile));
	if (fcmServiceAccountFile !== null)
		check('fcm', fcmServiceAccountFile, () => readServiceAccount(fcmServiceAccountFile));
	if (jwtJwks !== null) check('jwks', jwtJwks, () => jwtVerifier({ jwks: jwtJwks }, Date.now));
	return Promise.all(checks);
}
