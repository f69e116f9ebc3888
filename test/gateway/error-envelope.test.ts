import { expect, test } from 'bun:test';
import { failure } from '../../src/gateway/http/envelope.ts';
import { Rejection } from '../../src/model/errors.ts';

test('the caller gets the error; the log gets the cause, with paths and addresses', async () => {
	const cause = new Error('disk I/O error at /var/lib/tidemark/tidemark.db');
	const rejection = new Rejection('service_unavailable', 'could not be written', undefined, cause);
	expect(rejection.reason).toBe('could not be written: disk I/O error at /var/lib/tidemark/tidemark.db');
	const answer = await failure(rejection).text();
	expect(answer).toContain('[ERROR] could not be written"');
	expect(answer).not.toContain('/var/lib');
});
