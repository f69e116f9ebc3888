/** Wall-clock time in micros. Stamps of the log may be ahead of it. */
export const wallMicros = (): number => Date.now() * 1000;
