import type { ButtonHTMLAttributes, Ref } from 'react';
import { Icon, type IconName } from './icons.tsx';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
	readonly icon: IconName;
	/** The accessible name and the tooltip. */
	readonly label: string;
	readonly ref?: Ref<HTMLButtonElement>;
}

export const IconButton = ({ icon, label, className = '', ...rest }: Props) => (
	<button type="button" className={`icon-button ${className}`} aria-label={label} title={label} {...rest}>
		<Icon name={icon} />
	</button>
);
