/** Yields to other work of the event loop: this process may also serve requests. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
