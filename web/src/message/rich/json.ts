/** Reads untrusted JSON: a value of the wrong type counts as empty. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsIn = (value: unknown): Fields => (isFields(value) ? value : {});

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const stringIn = (value: unknown): string => (typeof value === 'string' ? value : '');
