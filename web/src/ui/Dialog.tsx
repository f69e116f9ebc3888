import { type ReactNode, useEffect, useId, useRef } from 'react';
import { IconButton } from './IconButton.tsx';

interface Props {
	readonly title: string;
	readonly onClose: () => void;
	/** For a dialog with a list: its top stays in place, however long the list is. */
	readonly isChooser?: boolean;
	readonly children: ReactNode;
}

/** The browser's own dialog: keeps the focus inside, closes with Esc and returns the focus. */
export function Dialog({ title, onClose, isChooser = false, children }: Props) {
	const element = useRef<HTMLDialogElement>(null);
	const titleId = useId();
	useEffect(() => {
		const before = document.activeElement as HTMLElement | null;
		const dialog = element.current;
		if (dialog && !dialog.open) dialog.showModal();
		// The first field gets the focus, so that the user can type at once; without a field, the first button.
		dialog?.querySelector<HTMLElement>('.dialog-body input')?.focus();
		return () => {
			dialog?.close();
			// The browser returns the focus only if the dialog is still in the page.
			if (document.activeElement === document.body && before?.isConnected) before.focus();
		};
	}, []);
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: a click outside closes the dialog; on the keyboard, Esc does
		<dialog
			ref={element}
			className={`dialog ${isChooser ? 'chooser' : ''}`}
			aria-labelledby={titleId}
			onClose={onClose}
			// The browser reports `close` a moment after Esc. Without this handler, that event could close a dialog that opened meanwhile.
			onCancel={(event) => {
				if (event.target !== element.current) return;
				event.preventDefault();
				onClose();
			}}
			onClick={(event) => {
				if (event.target === element.current) onClose();
			}}
		>
			<header>
				<h2 id={titleId}>{title}</h2>
				<IconButton icon="close" label="Close" onClick={onClose} />
			</header>
			<div className="dialog-body">{children}</div>
		</dialog>
	);
}
