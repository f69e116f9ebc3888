import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';

/**
 * A button that opens a menu. The menu is a popover: the browser shows it in front of everything, and closes it on Esc or on a click
 * outside. Arrow keys move between the items.
 */

export interface MenuItem {
	readonly label: string;
	readonly hint?: string;
	readonly isDangerous?: boolean;
	/** For one of several choices: whether it is the chosen one. */
	readonly isChosen?: boolean;
	readonly run: () => void;
}

interface Props {
	readonly label: string;
	readonly className?: string;
	readonly items: readonly MenuItem[];
	readonly children: ReactNode;
}

const GAP = 6;

/** Places the menu below the button, or above it if there is no room, inside the window. */
function place(menu: HTMLElement, button: HTMLElement): void {
	const anchor = button.getBoundingClientRect();
	const { offsetWidth: width, offsetHeight: height } = menu;
	const left = Math.min(Math.max(GAP, anchor.right - width), innerWidth - width - GAP);
	const isRoomBelow = anchor.bottom + GAP + height < innerHeight;
	const top = isRoomBelow ? anchor.bottom + GAP : Math.max(GAP, anchor.top - height - GAP);
	menu.style.left = `${left}px`;
	menu.style.top = `${top}px`;
}

export function Menu({ label, className = 'icon-button', items, children }: Props) {
	const id = useId();
	const button = useRef<HTMLButtonElement>(null);
	const menu = useRef<HTMLDivElement>(null);
	const [isOpen, setOpen] = useState(false);

	// Runs after the items are rendered, because the menu's position depends on their height.
	useLayoutEffect(() => {
		if (!isOpen || !menu.current || !button.current) return;
		place(menu.current, button.current);
		menu.current.querySelector<HTMLElement>('[role^=menuitem]')?.focus({ preventScroll: true });
	}, [isOpen]);

	const walk = (event: KeyboardEvent) => {
		const entries = [...(menu.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
		const at = entries.indexOf(document.activeElement as HTMLElement);
		const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
		if (next === undefined) return;
		event.preventDefault();
		event.stopPropagation();
		entries.at(next % entries.length)?.focus();
	};

	return (
		<>
			<button
				ref={button}
				type="button"
				className={className}
				aria-label={label}
				title={label}
				aria-haspopup="menu"
				aria-expanded={isOpen}
				popoverTarget={id}
			>
				{children}
			</button>
			<div
				ref={menu}
				id={id}
				popover="auto"
				role="menu"
				aria-label={label}
				tabIndex={-1}
				className="menu"
				onKeyDown={walk}
				onToggle={(event) => setOpen(event.newState === 'open')}
			>
				{isOpen &&
					items.map((item) => (
						<button
							key={item.label}
							type="button"
							className={item.isDangerous ? 'danger' : ''}
							{...(item.isChosen === undefined
								? { role: 'menuitem' }
								: { role: 'menuitemradio', 'aria-checked': item.isChosen })}
							onClick={() => {
								menu.current?.hidePopover();
								item.run();
							}}
						>
							<span>{item.label}</span>
							{item.hint && <kbd>{item.hint}</kbd>}
						</button>
					))}
			</div>
		</>
	);
}
