/** The values of Lua and the part of its library that Tidemark's scripts use. nil is `undefined`. */

export type Value = undefined | boolean | number | string | Table | Callable;
/** A call returns any number of values. */
export type Callable = (...args: Value[]) => Value[];

export class LuaError extends Error {
	constructor(readonly value: Value) {
		super(typeof value === 'string' ? value : String(value instanceof Table ? value.get('err') : value));
	}
}

export class Table {
	/** Lua counts from 1: index 0 is not used. */
	readonly list: Value[] = [undefined];
	readonly named = new Map<Value, Value>();

	static of(values: readonly Value[]): Table {
		const table = new Table();
		for (const value of values) table.list.push(value);
		return table;
	}

	get(key: Value): Value {
		return typeof key === 'number' && key > 0 && key < this.list.length
			? this.list[key]
			: this.named.get(key);
	}

	set(key: Value, value: Value): void {
		if (typeof key === 'number' && key > 0 && key <= this.list.length && Number.isInteger(key)) {
			this.list[key] = value;
			while (this.list.length > 1 && this.list.at(-1) === undefined) this.list.pop();
		} else if (value === undefined) this.named.delete(key);
		else this.named.set(key, value);
	}

	get length(): number {
		return this.list.length - 1;
	}
}

export const isTrue = (value: Value): boolean => value !== undefined && value !== false;

export function toNumber(value: Value): number | undefined {
	if (typeof value === 'number') return value;
	if (typeof value !== 'string' || value.trim() === '') return undefined;
	const number = Number(value);
	return Number.isNaN(number) ? undefined : number;
}

const need = (value: Value): number => {
	const number = toNumber(value);
	if (number === undefined) throw new LuaError(`attempt to perform arithmetic on ${typeof value}`);
	return number;
};

/** Formats numbers like `%.14g`. */
export function toText(value: Value): string {
	if (typeof value === 'number')
		return Number.isInteger(value) && Math.abs(value) < 1e15
			? String(value)
			: String(Number(value.toPrecision(14)));
	if (value === undefined) return 'nil';
	return String(value);
}

const patterns = new Map<string, RegExp>();

function regexOf(pattern: Value): RegExp {
	const text = String(pattern);
	let regex = patterns.get(text);
	if (!regex) {
		regex = new RegExp(
			text.replaceAll(/%(.)/g, (_, letter) => `\\${letter}`),
			'g',
		);
		patterns.set(text, regex);
	}
	regex.lastIndex = 0;
	return regex;
}

const captures = (match: RegExpExecArray): Value[] => (match.length > 1 ? match.slice(1) : [match[0]]);

export const operators = {
	add: (a: Value, b: Value): Value => need(a) + need(b),
	subtract: (a: Value, b: Value): Value => need(a) - need(b),
	multiply: (a: Value, b: Value): Value => need(a) * need(b),
	divide: (a: Value, b: Value): Value => need(a) / need(b),
	modulo: (a: Value, b: Value): Value => need(a) - Math.floor(need(a) / need(b)) * need(b),
	negate: (a: Value): Value => -need(a),
	concat: (a: Value, b: Value): Value => {
		for (const one of [a, b])
			if (typeof one !== 'string' && typeof one !== 'number')
				throw new LuaError(`attempt to concatenate ${typeof one}`);
		return toText(a) + toText(b);
	},
	less: (a: Value, b: Value): boolean => {
		if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string'))
			throw new LuaError(`attempt to compare ${typeof a} with ${typeof b}`);
		return (a as number) < (b as number);
	},
	length: (a: Value): Value => {
		if (typeof a === 'string') return a.length;
		if (a instanceof Table) return a.length;
		throw new LuaError(`attempt to get the length of ${typeof a}`);
	},
	index: (table: Value, key: Value): Value => {
		if (!(table instanceof Table)) throw new LuaError(`attempt to index ${typeof table}`);
		return table.get(key);
	},
	set: (table: Value, key: Value, value: Value): void => {
		if (!(table instanceof Table)) throw new LuaError(`attempt to index ${typeof table}`);
		table.set(key, value);
	},
	call: (callee: Value, args: Value[]): Value[] => {
		if (typeof callee !== 'function') throw new LuaError(`attempt to call ${typeof callee}`);
		return callee(...args) ?? [];
	},
	isTrue,
	tableOf: (values: Value[], named: readonly (readonly [string, Value])[]): Table => {
		const table = Table.of(values);
		for (const [key, value] of named) table.set(key, value);
		return table;
	},
	/** The values of a generic `for`. */
	*each(iterator: Value): Generator<Value[]> {
		for (;;) {
			const values = operators.call(iterator, []);
			if (values[0] === undefined) return;
			yield values;
		}
	},
};

const library = (functions: Readonly<Record<string, Callable>>): Table => {
	const table = new Table();
	for (const [name, run] of Object.entries(functions)) table.set(name, run);
	return table;
};

/** Converts a JSON value that consists of arrays and texts. */
const tableOf = (value: unknown): Value =>
	Array.isArray(value) ? Table.of(value.map(tableOf)) : (value as Value);

export const GLOBALS: Readonly<Record<string, Value>> = {
	tonumber: (value) => [toNumber(value)],
	tostring: (value) => [toText(value)],
	error: (value) => {
		throw new LuaError(value);
	},
	unpack: (table, from, to) => {
		const { list, length } = table as Table;
		const values: Value[] = [];
		for (let place = (from as number) ?? 1; place <= ((to as number) ?? length); place += 1)
			values.push(list[place]);
		return values;
	},
	ipairs: (table) => {
		let place = 0;
		return [
			() => {
				place += 1;
				const value = (table as Table).get(place);
				return value === undefined ? [undefined] : [place, value];
			},
		];
	},
	cjson: library({ decode: (text) => [tableOf(JSON.parse(String(text)))] }),
	string: library({
		find: (text, pattern, from = 1, plain = false) => {
			const subject = String(text);
			const start = Math.max(1, from as number) - 1;
			if (isTrue(plain)) {
				const place = subject.indexOf(String(pattern), start);
				return place < 0 ? [undefined] : [place + 1, place + String(pattern).length];
			}
			const match = regexOf(pattern).exec(subject.slice(start));
			if (!match) return [undefined];
			const first = start + match.index + 1;
			return [first, first + match[0].length - 1, ...match.slice(1)];
		},
		match: (text, pattern) => {
			const match = regexOf(pattern).exec(String(text));
			return match ? captures(match) : [undefined];
		},
		gmatch: (text, pattern) => {
			const matches = String(text).matchAll(regexOf(pattern));
			return [
				() => {
					const { done, value } = matches.next();
					return done ? [undefined] : captures(value);
				},
			];
		},
		sub: (text, from, to = -1) => {
			const subject = String(text);
			const place = (index: number): number => (index < 0 ? subject.length + index + 1 : index);
			return [subject.slice(Math.max(1, place(from as number)) - 1, place(to as number))];
		},
		format: (pattern, ...values) => {
			if (pattern !== '%.0f') throw new Error(`string.format knows no ${pattern}`);
			return [need(values[0]).toFixed(0)];
		},
	}),
	table: library({
		concat: (table, separator = '') => [(table as Table).list.slice(1).map(toText).join(String(separator))],
		insert: (table, place, value) => {
			(table as Table).list.splice(place as number, 0, value);
			return [];
		},
	}),
	math: library({
		max: (...values) => [Math.max(...values.map(need))],
		floor: (value) => [Math.floor(need(value))],
	}),
};
