/** The time that people's clocks show, in micros. Stamps of the log may be ahead of it. */
export const wallMicros = (): number => Date.now() * 1000;
