import type { ReactNode } from 'react';

/**
 * React as in a page, with components that render nothing: a document with only the parts that React uses. This is
 * enough for hooks, and avoids simulating a whole browser. Sets globals, so tests with it need their own process.
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
	/** Runs an action that may change what is rendered, and waits until React has rendered. */
	act(work: () => unknown): Promise<void>;
	unmount(): Promise<void>;
}

export async function draw(element: ReactNode): Promise<Drawn> {
	const root = createRoot(container() as unknown as Element);
	const acting = (work: () => unknown): Promise<void> => act(async () => void (await work()));
	await acting(() => root.render(element));
	return { act: acting, unmount: () => acting(() => root.unmount()) };
}
