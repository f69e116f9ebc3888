/** Reads untrusted JSON: a value of the wrong type counts as empty. */

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsIn = (value: unknown): Fields =>
	typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const stringIn = (value: unknown): string => (typeof value === 'string' ? value : '');
