/** Stores keep neither lone surrogates nor zeros: what is answered is what will be read again. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');
