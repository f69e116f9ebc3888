import { type Callable, GLOBALS, operators, Table, type Value } from './lua-values.ts';

/**
 * Translates a Lua script to JavaScript, so that the simulation runs the same scripts as Redis in production. It supports what Tidemark's
 * scripts use: no metatables, no goto, no varargs. Anything else is an error at translation.
 */

type Token = { readonly kind: 'name' | 'number' | 'string' | 'sign' | 'end'; readonly text: string };

const WORDS = new Set(
	'and break do else elseif end false for function if in local nil not or return then true until repeat while'.split(
		' ',
	),
);
const TOKEN =
	/\s+|--\[\[[\s\S]*?\]\]|--[^\n]*|([A-Za-z_]\w*)|(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\.\.|==|~=|<=|>=|[-+*/%#<>=(){}[\];:,.])/gy;

function tokensOf(source: string): Token[] {
	const text = source.replace(/^#![^\n]*/, '');
	const tokens: Token[] = [];
	TOKEN.lastIndex = 0;
	while (TOKEN.lastIndex < text.length) {
		const from = TOKEN.lastIndex;
		const match = TOKEN.exec(text);
		if (!match) throw new Error(`Lua: cannot parse: ${text.slice(from, from + 40)}`);
		const [, name, number, string, sign] = match;
		if (name !== undefined) tokens.push({ kind: WORDS.has(name) ? 'sign' : 'name', text: name });
		else if (number !== undefined) tokens.push({ kind: 'number', text: number });
		else if (string !== undefined)
			tokens.push({ kind: 'string', text: string.slice(1, -1).replaceAll("\\'", "'") });
		else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
	}
	tokens.push({ kind: 'end', text: '' });
	return tokens;
}

/** By precedence, lowest first. All are parsed as left-associative, which makes no difference for `..`. */
const BINARY: readonly (readonly string[])[] = [
	['or'],
	['and'],
	['<', '>', '<=', '>=', '~=', '=='],
	['..'],
	['+', '-'],
	['*', '/', '%'],
];

const ARITHMETIC: Readonly<Record<string, string>> = {
	'..': 'concat',
	'+': 'add',
	'-': 'subtract',
	'*': 'multiply',
	'/': 'divide',
	'%': 'modulo',
};

/** The code of an expression. `many`: it is a call, which may return several values. */
interface Expression {
	readonly code: string;
	readonly many: boolean;
}

const single = ({ code, many }: Expression): string => (many ? `${code}[0]` : code);

class Translator {
	private place = 0;
	private temporaries = 0;

	constructor(private readonly tokens: readonly Token[]) {}

	chunk(): string {
		const code = this.block();
		if (this.peek.kind !== 'end') throw new Error(`Lua: unexpected "${this.peek.text}"`);
		return code;
	}

	private get peek(): Token {
		return this.tokens[this.place] as Token;
	}

	private is(text: string): boolean {
		return this.peek.kind === 'sign' && this.peek.text === text;
	}

	private take(text: string): boolean {
		if (!this.is(text)) return false;
		this.place += 1;
		return true;
	}

	private expect(text: string): void {
		if (!this.take(text)) throw new Error(`Lua: "${text}" is expected, not "${this.peek.text}"`);
	}

	private name(): string {
		const { kind, text } = this.peek;
		if (kind !== 'name') throw new Error(`Lua: a name is expected, not "${text}"`);
		this.place += 1;
		return variable(text);
	}

	private block(): string {
		const statements: string[] = [];
		while (this.peek.kind !== 'end' && !['end', 'else', 'elseif', 'until'].some((word) => this.is(word))) {
			if (this.take(';')) continue;
			statements.push(this.statement());
		}
		return statements.join('\n');
	}

	private statement(): string {
		if (this.take('local')) return this.local();
		if (this.take('if')) return this.conditional();
		if (this.take('while')) {
			const condition = single(this.expression());
			this.expect('do');
			return `while (L.isTrue(${condition})) {\n${this.ended()}\n}`;
		}
		if (this.take('for')) return this.loop();
		if (this.take('do')) return `{\n${this.ended()}\n}`;
		if (this.take('break')) return 'break;';
		if (this.take('return')) {
			const isEmpty = this.peek.kind === 'end' || ['end', 'else', 'elseif'].some((word) => this.is(word));
			return `return ${isEmpty ? '[]' : this.list(this.expressions())};`;
		}
		return this.assignment();
	}

	private ended(): string {
		const code = this.block();
		this.expect('end');
		return code;
	}

	private local(): string {
		if (this.take('function')) {
			const name = this.name();
			return `let ${name}; ${name} = ${this.body()};`;
		}
		const names = [this.name()];
		while (this.take(',')) names.push(this.name());
		if (!this.take('=')) return `let ${names.join(', ')};`;
		const values = this.expressions();
		// Evaluated before the declaration, because the values may use an outer variable of the same name.
		const assigned = this.fresh();
		return `var ${assigned} = ${this.list(values)};\n${names.map((name, index) => `let ${name === '_' ? this.fresh() : name} = ${assigned}[${index}];`).join(' ')}`;
	}

	private conditional(): string {
		const condition = single(this.expression());
		this.expect('then');
		let code = `if (L.isTrue(${condition})) {\n${this.block()}\n}`;
		if (this.take('elseif')) return `${code} else {\n${this.conditional()}\n}`;
		if (this.take('else')) code += ` else {\n${this.block()}\n}`;
		this.expect('end');
		return code;
	}

	private loop(): string {
		const names = [this.name()];
		while (this.take(',')) names.push(this.name());
		if (names.length === 1 && this.take('=')) {
			const [from, to, step] = this.expressions().map(single);
			this.expect('do');
			const [end, by] = [this.fresh(), this.fresh()];
			return `{ const ${end} = ${to}, ${by} = ${step ?? 1};\nfor (let ${names[0]} = ${from}; ${by} > 0 ? ${names[0]} <= ${end} : ${names[0]} >= ${end}; ${names[0]} += ${by}) {\n${this.ended()}\n} }`;
		}
		this.expect('in');
		const iterator = single(this.expression());
		this.expect('do');
		return `for (const [${names.join(', ')}] of L.each(${iterator})) {\n${this.ended()}\n}`;
	}

	private assignment(): string {
		const targets = [this.suffixed()];
		while (this.take(',')) targets.push(this.suffixed());
		const [first] = targets as [Target];
		if (targets.length === 1 && first.expression.many && !this.is('=')) return `${first.expression.code};`;
		this.expect('=');
		const values = this.fresh();
		return `{ const ${values} = ${this.list(this.expressions())};\n${targets.map(({ assign }, index) => assign(`${values}[${index}]`)).join(' ')} }`;
	}

	private expressions(): Expression[] {
		const found = [this.expression()];
		while (this.take(',')) found.push(this.expression());
		return found;
	}

	/** The code of a list of values; the last expression may be a call with several values. */
	private list(values: readonly Expression[]): string {
		const last = values.at(-1);
		return `[${values.map((value) => (value === last && value.many ? `...${value.code}` : single(value))).join(', ')}]`;
	}

	private expression(level = 0): Expression {
		const signs = BINARY[level];
		if (!signs) return this.unary();
		let left = this.expression(level + 1);
		for (;;) {
			const sign = signs.find((one) => this.is(one));
			if (sign === undefined) return left;
			this.place += 1;
			const right = this.expression(level + 1);
			left = { code: binary(sign, single(left), single(right)), many: false };
		}
	}

	private unary(): Expression {
		if (this.take('not')) return { code: `!L.isTrue(${single(this.unary())})`, many: false };
		if (this.take('#')) return { code: `L.length(${single(this.unary())})`, many: false };
		if (this.take('-')) return { code: `L.negate(${single(this.unary())})`, many: false };
		return this.simple();
	}

	private simple(): Expression {
		const { kind, text } = this.peek;
		const constant = (code: string): Expression => {
			this.place += 1;
			return { code, many: false };
		};
		if (kind === 'number') return constant(text);
		if (kind === 'string') return constant(JSON.stringify(text));
		if (this.is('nil')) return constant('undefined');
		if (this.is('true') || this.is('false')) return constant(text);
		if (this.is('{')) return { code: this.table(), many: false };
		if (this.take('function')) return { code: this.body(), many: false };
		return this.suffixed().expression;
	}

	private table(): string {
		this.expect('{');
		const values: Expression[] = [];
		const named: string[] = [];
		while (!this.take('}')) {
			const next = this.tokens[this.place + 1];
			if (this.peek.kind === 'name' && next?.kind === 'sign' && next.text === '=') {
				const key = this.peek.text;
				this.place += 2;
				named.push(`[${JSON.stringify(key)}, ${single(this.expression())}]`);
			} else values.push(this.expression());
			if (!this.take(',')) this.take(';');
		}
		return `L.tableOf(${this.list(values)}, [${named.join(', ')}])`;
	}

	private body(): string {
		this.expect('(');
		const names: string[] = [];
		while (!this.take(')')) {
			const name = this.name();
			names.push(name === '_' ? this.fresh() : name);
			this.take(',');
		}
		return `(${names.join(', ')}) => {\n${this.ended()}\nreturn [];\n}`;
	}

	private suffixed(): Target {
		let expression: Expression;
		let assign = (_: string): string => {
			throw new Error('Lua: this cannot be assigned to');
		};
		if (this.take('(')) {
			expression = { code: `(${single(this.expression())})`, many: false };
			this.expect(')');
		} else {
			const name = this.name();
			expression = { code: name, many: false };
			assign = (value) => `${name} = ${value};`;
		}
		for (;;) {
			const object = single(expression);
			if (this.take('.')) {
				const key = JSON.stringify(this.peek.text);
				this.place += 1;
				expression = { code: `L.index(${object}, ${key})`, many: false };
				assign = (value) => `L.set(${object}, ${key}, ${value});`;
			} else if (this.take('[')) {
				const key = single(this.expression());
				this.expect(']');
				expression = { code: `L.index(${object}, ${key})`, many: false };
				assign = (value) => `L.set(${object}, ${key}, ${value});`;
			} else if (this.take('(')) {
				const args = this.is(')') ? [] : this.expressions();
				this.expect(')');
				expression = { code: `L.call(${object}, ${this.list(args)})`, many: true };
			} else return { expression, assign };
		}
	}

	private fresh(): string {
		this.temporaries += 1;
		return `$${this.temporaries}`;
	}
}

interface Target {
	readonly expression: Expression;
	readonly assign: (value: string) => string;
}

const RESERVED = new Set([
	'new',
	'delete',
	'default',
	'class',
	'const',
	'var',
	'let',
	'this',
	'with',
	'case',
	'null',
]);
const variable = (name: string): string => (RESERVED.has(name) ? `${name}_` : name);

function binary(sign: string, left: string, right: string): string {
	const arithmetic = ARITHMETIC[sign];
	if (arithmetic) return `L.${arithmetic}(${left}, ${right})`;
	switch (sign) {
		case 'and':
			return `(($v) => (L.isTrue($v) ? ${right} : $v))(${left})`;
		case 'or':
			return `(($v) => (L.isTrue($v) ? $v : ${right}))(${left})`;
		case '==':
			return `(${left} === ${right})`;
		case '~=':
			return `(${left} !== ${right})`;
		case '<':
			return `L.less(${left}, ${right})`;
		case '>':
			return `L.less(${right}, ${left})`;
		case '<=':
			return `!L.less(${right}, ${left})`;
		default:
			return `!L.less(${left}, ${right})`;
	}
}

export type Script = (keys: readonly string[], args: readonly string[], redis: Table) => Value;

export function translate(source: string): Script {
	const code = new Translator(tokensOf(source)).chunk();
	const names = Object.keys(GLOBALS);
	const run = new Function('L', ...names, 'KEYS', 'ARGV', 'redis', code) as (
		...all: unknown[]
	) => Value[] | undefined;
	const globals = names.map((name) => GLOBALS[name]);
	return (keys, args, redis) => (run(operators, ...globals, Table.of(keys), Table.of(args), redis) ?? [])[0];
}

export type { Callable, Value };
