/**
 * Texts for posts and edits: plain words, mentions, and texts that only look like mentions. At most one part has
 * backticks, and an unclosed one is last: the model does not say how several of them pair up.
 */

import type { Groups } from './operations.ts';
import type { Random } from './random.ts';

const WORDS = ['tide', 'anchor', 'pier', 'rope', 'gull', 'fog', 'lamp', 'keel'] as const;

function word(random: Random): string {
	return random.pick(WORDS) ?? 'tide';
}

function name(random: Random, users: readonly string[], members: readonly string[]): string {
	// Mostly members. Other users must not become mentioned when they join later.
	const pool = random.chance(0.75) ? members : users;
	const user = random.pick(pool) ?? users[0] ?? 'U0';
	return random.chance(0.15) ? `<@${user}|${word(random)}>` : `<@${user}>`;
}

function channelWide(random: Random, groups: Groups): string {
	const forms = ['<!channel>', '<!everyone>', ...(groups.presence ? ['<!here>', '<!here>'] : [])];
	return random.pick(forms) ?? '<!channel>';
}

function code(random: Random, mention: string): string {
	const forms = [
		`\`${mention}\``,
		`\`${word(random)} ${mention} ${word(random)}\``,
		`\`\`\`${mention}\`\`\``,
		`\`\`\`\n${word(random)}\n${mention}\n\`\`\``,
	];
	return random.pick(forms) ?? '';
}

/** Code that is not closed, or inline code that is not closed on its line: this is plain text, so the mention counts. */
function unclosed(random: Random, mention: string): string {
	const forms = [
		`\`${mention}`,
		`\`\`\`${mention}`,
		`\`${word(random)}\n${mention}`,
		`\`${word(random)}\n${mention}\``,
	];
	return random.pick(forms) ?? '';
}

export function randomText(
	random: Random,
	users: readonly string[],
	members: readonly string[],
	groups: Groups,
): string {
	const pieces = [word(random)];
	if (groups.mentions) {
		const mention = () => (random.chance(0.7) ? name(random, users, members) : channelWide(random, groups));
		if (random.chance(0.5)) {
			pieces.push(mention());
		}
		if (random.chance(0.15)) {
			pieces.push(mention());
		}
		if (random.chance(0.15)) {
			pieces.push(code(random, mention()), word(random));
			if (random.chance(0.3)) {
				pieces.push(mention());
			}
		} else if (random.chance(0.08)) {
			pieces.push(unclosed(random, mention()));
		}
	}
	return pieces.join(' ');
}
