/** Lets other work have its turn of the event loop: this may be the process that serves people. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
