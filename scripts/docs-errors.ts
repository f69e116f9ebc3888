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

Made from \`src/model/errors.ts\` by \`bin/bun scripts/docs-errors.ts\`; do not edit.

A method that is refused answers \`{"ok": false, "error": "<code>"}\`, and names the argument that is at fault in
\`response_metadata.messages\`. The HTTP status is 200 where the table does not say otherwise: Slack’s clients send again
what has any other one. Retry means that the same request may succeed later without being changed; with it comes a
\`Retry-After\` header, in seconds.

| code | meaning | retry | status |
|---|---|---|---|
${errors.join('\n')}

At \`rtm.connect\` and \`rtm.start\` every refusal of a token is \`not_authed\`, \`invalid_auth\` or \`account_inactive\`, and a
failure is \`service_unavailable\`: Slack’s RTM client stops for good at anything else.

## Close codes

What a socket is closed with. 4000 to 4099: connect again and resume. 4100 to 4199: connect again and reload everything. 4200 to 4299:
do not connect again as before; the table says what has to change first.

| code | reason | meaning |
|---|---|---|
${closes.join('\n')}
`;
}

if (import.meta.main) await Bun.write(new URL(`../${ERRORS_PAGE}`, import.meta.url), renderErrors());
