import { createRequire } from 'node:module';

/**
 * Loaded before the server in processes of a test cluster. @platformatic/kafka compiles 38 JSON schemas when it is
 * imported, which is a third of a gateway's start, and uses none of them unless it is `strict`. This makes it compile a
 * schema on first use.
 */

type Validate = ((data: unknown) => boolean) & { errors?: unknown };
type Compile = (this: object, ...args: readonly unknown[]) => Validate;

/** The copy that this package uses. */
const { Ajv2020 } = createRequire(import.meta.resolve('@platformatic/kafka'))('ajv/dist/2020.js') as {
	readonly Ajv2020: { readonly prototype: { compile: Compile } };
};
const { compile } = Ajv2020.prototype;

Ajv2020.prototype.compile = function lazily(this: object, ...args: readonly unknown[]): Validate {
	let made: Validate | undefined;
	const validate: Validate = (data) => {
		made ??= compile.apply(this, [...args]);
		const isValid = made(data);
		validate.errors = made.errors;
		return isValid;
	};
	return validate;
};
