import { type RefObject, useEffect, useState } from 'react';

/** Returns whether files are being dragged over the pane around `inside`; calls `onFiles` when they are dropped. */
export function useDropped(inside: RefObject<HTMLElement | null>, onFiles: (files: readonly File[]) => void) {
	const [isDraggedOver, setOver] = useState(false);
	useEffect(() => {
		const pane = inside.current?.closest<HTMLElement>('.pane, .thread-panel');
		if (!pane) return;
		// The browser reports that the pointer enters a child before it reports that it leaves the parent, so this counts both.
		let depth = 0;
		const enter = (event: DragEvent) => {
			if (!hasFiles(event)) return;
			depth += 1;
			setOver(true);
		};
		const leave = (event: DragEvent) => {
			if (!hasFiles(event)) return;
			depth = Math.max(0, depth - 1);
			if (depth === 0) setOver(false);
		};
		const over = (event: DragEvent) => {
			if (hasFiles(event)) event.preventDefault();
		};
		const drop = (event: DragEvent) => {
			depth = 0;
			setOver(false);
			if (!hasFiles(event)) return;
			event.preventDefault();
			onFiles(filesIn(event.dataTransfer));
		};
		pane.addEventListener('dragenter', enter);
		pane.addEventListener('dragleave', leave);
		pane.addEventListener('dragover', over);
		pane.addEventListener('drop', drop);
		return () => {
			pane.removeEventListener('dragenter', enter);
			pane.removeEventListener('dragleave', leave);
			pane.removeEventListener('dragover', over);
			pane.removeEventListener('drop', drop);
		};
	}, [inside, onFiles]);
	return isDraggedOver;
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;

export const filesIn = (transfer: DataTransfer | null): readonly File[] => [...(transfer?.files ?? [])];

/** Without this, a file that is dropped outside a pane would replace the page. */
export function ignoreOtherDrops(): () => void {
	const ignore = (event: DragEvent) => {
		if (!hasFiles(event) || event.defaultPrevented) return;
		event.preventDefault();
		if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
	};
	addEventListener('dragover', ignore);
	addEventListener('drop', ignore);
	return () => {
		removeEventListener('dragover', ignore);
		removeEventListener('drop', ignore);
	};
}
