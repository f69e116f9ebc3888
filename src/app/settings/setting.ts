import { networkOf } from '../../protocol/networks.ts';
import { isHostPattern } from '../../push/web/allowed-hosts.ts';

/**
 * How one setting is declared: the type, and the parsers that check a value. A parser throws an error whose message
 * continues the name and value of the setting: "TIDEMARK_PORT "x" is not a whole number from 0 to 65535".
 */

/** Commands with help texts of their own: roles of a cluster, and clients that call a running server. */
export type HelpVariant = 'cluster' | 'client';

export interface Setting<T> {
	readonly environment: `TIDEMARK_${string}`;
	readonly flag: string;
	readonly help: string;
	/** Replaces `help` for commands to which the setting means something else. */
	readonly helpFor?: Partial<Readonly<Record<HelpVariant, string>>>;
	readonly fallback: T;
	readonly secret?: boolean;
	readonly parse: (text: string) => T;
}

export const setting = <T>(
	name: string,
	helps: string | Pick<Setting<T>, 'help' | 'helpFor'>,
	fallback: T,
	parse: (text: string) => T,
	secret = false,
): Setting<T> => ({
	environment: `TIDEMARK_${name.replaceAll('-', '_').toUpperCase()}`,
	flag: name,
	...(typeof helps === 'string' ? { help: helps } : helps),
	fallback,
	parse,
	...(secret ? { secret } : {}),
});

export const text = (value: string): string => {
	if (value === '') throw new Error('is empty');
	return value;
};

export const name = (value: string): string => {
	if (!/^[a-z][a-z0-9_]{0,31}$/.test(value))
		throw new Error('is not a name of at most 32 lower-case letters, digits and _, with a letter first');
	return value;
};

export const wholeNumber =
	(min: number, max: number) =>
	(value: string): number => {
		const number = Number(value);
		if (!/^\d+$/.test(value) || number < min || number > max)
			throw new Error(`is not a whole number from ${min} to ${max}`);
		return number;
	};

export const portNumber = (value: string): number => {
	if (value.startsWith('tcp://'))
		throw new Error(
			'is set by Kubernetes in every pod for a Service named "tidemark": set enableServiceLinks: false in the pod’s spec',
		);
	return wholeNumber(0, 65_535)(value);
};

export const oneOf =
	<T extends string>(...choices: readonly T[]) =>
	(value: string): T => {
		const choice = choices.find((one) => one === value);
		if (choice === undefined) throw new Error(`is not one of ${choices.join(', ')}`);
		return choice;
	};

export const address =
	(...protocols: readonly string[]) =>
	(value: string): string => {
		const url = URL.canParse(value) ? new URL(value) : null;
		if (!url || !protocols.includes(url.protocol.slice(0, -1)))
			throw new Error(`is not an address like ${protocols[0]}://host:port`);
		return value;
	};

export const hostsAndPorts = (value: string): readonly string[] => {
	const items = value.split(',').map((item) => item.trim());
	if (!items.every((item) => /^[^\s:]+:\d+$/.test(item)))
		throw new Error('is not a list like host:port,host:port');
	return items;
};

export const hostPatterns = (value: string): readonly string[] => {
	const items = value.split(',').map((item) => item.trim());
	if (!items.every(isHostPattern)) throw new Error('is not a list like host,*.host,host:port');
	return items;
};

export const networks = (value: string): readonly string[] => {
	if (value === 'none') return [];
	const items = value.split(',').map((item) => item.trim());
	if (!items.every((item) => networkOf(item))) throw new Error('is not a list like 10.0.0.0/8,192.0.2.7,::1');
	return items;
};

/** Push services check the contact; Apple rejects invalid ones. */
export const contact = (value: string): string => {
	if (!/^mailto:[^\s@]+@[^\s@]+$/.test(value) && !(URL.canParse(value) && value.startsWith('https://')))
		throw new Error('is neither mailto:name@host nor an https address');
	return value;
};

export const origin = (value: string): string => {
	if (!URL.canParse(value) || new URL(value).origin !== value.replace(/\/$/, ''))
		throw new Error('is not an address like https://chat.example.org');
	return new URL(value).origin;
};

export const origins = (value: string): readonly string[] => {
	const items = value.split(',').map((item) => item.trim());
	const isOrigin = (item: string): boolean => URL.canParse(item) && new URL(item).origin === item;
	if (!items.every((item) => item === '*' || isOrigin(item)))
		throw new Error('is not a list like https://app.example.org,https://example.org');
	return items;
};

export const atLeastBytes =
	(min: number) =>
	(value: string): string => {
		if (Buffer.byteLength(value) < min) throw new Error(`is shorter than ${min} bytes`);
		return value;
	};
