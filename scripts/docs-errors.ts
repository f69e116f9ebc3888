import { CLOSE_CODES, ERRORS } from '../src/model/errors.ts';

/** Writes docs/errors.md from the table of errors; a test compares the two. */

export const ERRORS_PAGE = 'docs/errors.md';

const statusOf = (status: number): string => (status === 200 ? '' : String(status));

export function renderErrors(): string {
	const errors = Object.entries(ERRORS).map(
		([code, { meaning, retry, status }]) =>
			`| \`${code}\` | ${meaning} | ${retry ? 'yes' : ''} | ${statusOf(status)} |`,
	);
	const closes = Object.entries(CLOSE_CODES).map(
		([reason, { code, meaning }]) => `| ${code} | \`${reason}\` | ${meaning} |`,
	);
	return `# Errors

Generated from \`src/model/errors.ts\` by \`bin/bun scripts/docs-errors.ts\`; do not edit.

If a method rejects a request, it answers \`{"ok": false, "error": "<code>"}\`. For an invalid argument, \`response_metadata.messages\` names it.
The HTTP status is 200 unless the table names another one, because Slack’s clients repeat requests with any other status. *Retry: yes* means
that the same request may succeed later; the answer then has a \`Retry-After\` header, in seconds.

| code | meaning | retry | status |
|---|---|---|---|
${errors.join('\n')}

\`rtm.connect\` and \`rtm.start\` reject every invalid token with \`not_authed\`, \`invalid_auth\` or \`account_inactive\`, and answer failures with
\`service_unavailable\`, because Slack’s RTM client hangs after any other error ([details](gateway.md#a-method-call)).

## Close codes

The server closes sockets with these codes. 4000 to 4099: reconnect and resume. 4100 to 4199: reconnect and reload everything. 4200 to 4299:
do not reconnect before you have done what the table says.

| code | reason | meaning |
|---|---|---|
${closes.join('\n')}
`;
}

if (import.meta.main) await Bun.write(new URL(`../${ERRORS_PAGE}`, import.meta.url), renderErrors());
