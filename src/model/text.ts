/** Databases reject lone surrogates and zero bytes; replacing them first makes the answer equal to what is stored. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');
