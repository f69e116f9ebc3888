import { useState } from 'react';

/**
 * New links and tokens, which the server returns only once. They belong to the page, not to the view of a workspace: one that was not
 * copied yet stays when the next one is created, and while the page shows another workspace.
 */

export interface Created {
	/** The id of the workspace. */
	readonly team: string;
	readonly label: string;
	readonly value: string;
	readonly hint: string;
	/** The id of the link; undefined for a token. */
	readonly invite?: string;
	readonly isCopied?: boolean;
}

export interface CreatedSecrets {
	/** Those of a workspace, newest first. */
	of(team: string): readonly Created[];
	/** How many of a workspace were not copied yet. */
	uncopied(team: string): number;
	show(one: Created): void;
	setCopied(value: string): void;
	hide(isHidden: (one: Created) => boolean): void;
}

const isUncopied = ({ isCopied }: Created): boolean => !isCopied;

export function useCreatedSecrets(): CreatedSecrets {
	const [all, setAll] = useState<readonly Created[]>([]);
	const of = (team: string) => all.filter((one) => one.team === team);
	return {
		of,
		uncopied: (team) => of(team).filter(isUncopied).length,
		show: (one) => setAll((before) => [one, ...before.filter(isUncopied)]),
		setCopied: (value) =>
			setAll((before) => before.map((one) => (one.value === value ? { ...one, isCopied: true } : one))),
		hide: (isHidden) => setAll((before) => before.filter((one) => !isHidden(one))),
	};
}
