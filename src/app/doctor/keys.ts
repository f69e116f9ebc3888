import { jwtVerifier } from '../../gateway/auth/jwt.ts';
import { readKey } from '../../push/apns/token.ts';
import { readServiceAccount } from '../../push/fcm/token.ts';
import type { Config } from '../config.ts';
import { bad, type Finding, messageOf, ok } from './finding.ts';

/** Files with keys: whether they can be read and have in them what they should. Nobody is asked over the network. */

export async function keyFindings({
	apnsKeyFile,
	fcmServiceAccountFile,
	jwtJwks,
}: Config): Promise<Finding[]> {
	const looks: Promise<Finding>[] = [];
	const look = (about: string, file: string, read: () => Promise<unknown>): void => {
		looks.push(
			read().then(
				() => ok(about, `${file} can be read`),
				(error) => bad(about, messageOf(error), 'Fix the file, its permissions, or the setting'),
			),
		);
	};
	if (apnsKeyFile !== null) look('apns', apnsKeyFile, () => readKey(apnsKeyFile));
	if (fcmServiceAccountFile !== null)
		look('fcm', fcmServiceAccountFile, () => readServiceAccount(fcmServiceAccountFile));
	if (jwtJwks !== null) look('jwks', jwtJwks, () => jwtVerifier({ jwks: jwtJwks }, Date.now));
	return Promise.all(looks);
}
