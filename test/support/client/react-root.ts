import type { ReactNode } from 'react';

/**
 * React as it runs in a page, drawing components that show nothing: a document with as much in it as React touches then. For
 * hooks this is enough, and saves a whole imitation of a browser. Sets globals, so tests with it have a process of their own.
 */

const ignore = (): void => undefined;
const node = { addEventListener: ignore, removeEventListener: ignore };
const document = {
	...node,
	nodeType: 9,
	activeElement: null,
	createElement: () => ({ style: {}, setAttribute: ignore }),
};
const container = () => ({
	...node,
	nodeType: 1,
	nodeName: 'DIV',
	tagName: 'DIV',
	ownerDocument: document,
	textContent: '',
});
class HTMLIFrameElement {}

Object.assign(globalThis, {
	window: globalThis,
	document,
	HTMLIFrameElement,
	IS_REACT_ACT_ENVIRONMENT: true,
});

const { createRoot } = await import('react-dom/client');
const { act } = await import('react');

export interface Drawn {
	/** Does something that may change what is shown, and waits until it is. */
	act(work: () => unknown): Promise<void>;
	unmount(): Promise<void>;
}

export async function draw(element: ReactNode): Promise<Drawn> {
	const root = createRoot(container() as unknown as Element);
	const acting = (work: () => unknown): Promise<void> => act(async () => void (await work()));
	await acting(() => root.render(element));
	return { act: acting, unmount: () => acting(() => root.unmount()) };
}
