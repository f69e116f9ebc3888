/** Which uses of a response_url or trigger_id were counted: their claims, separated by spaces. */
export const useClaims: readonly string[] = [
	`ALTER TABLE app_uses ADD COLUMN claims TEXT NOT NULL DEFAULT ''`,
];
