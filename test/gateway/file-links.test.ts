import { expect, test } from 'bun:test';
import type { Call, Method } from '../../src/gateway/http/method.ts';
import { filesGetLinks } from '../../src/gateway/http/methods/files.ts';
import { Rejection } from '../../src/model/errors.ts';
import { rejectionOf, TEAM, userNamed } from './support.ts';

/** files.getLinks leaves out files that the caller may not see, and nothing else. */

const linksWith = (files: object | null) => {
	const caller = { kind: 'user', user: userNamed('U1'), team: TEAM } as Parameters<Method['call']>[1];
	return filesGetLinks.call(new Map([['files', 'F01']]), caller, { services: { files } } as unknown as Call);
};
const recordsThat = (get: () => Promise<object[]>) => ({ records: { get } });

test('an unknown or deleted file has no link', async () => {
	expect(await linksWith(recordsThat(async () => []))).toEqual({ links: [] });
	const deleted = { id: 'F01', team: TEAM, user: 'U1', state: 'deleted' };
	expect(await linksWith(recordsThat(async () => [deleted]))).toEqual({ links: [] });
});

test('disabled files and an unavailable store are errors, not missing files', async () => {
	expect(await rejectionOf(() => linksWith(null))).toBe('files_disabled');
	const unavailable = recordsThat(() => Promise.reject(new Rejection('service_unavailable')));
	expect(await rejectionOf(() => linksWith(unavailable))).toBe('service_unavailable');
});
