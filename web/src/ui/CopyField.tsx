import { useId, useState } from 'react';
import { copyText } from './copying.ts';

interface Props {
	readonly label: string;
	readonly value: string;
	readonly hint?: string;
	/** Called when the user has copied the text, with the button or by hand. */
	readonly onCopied?: () => void;
	/** Called when the user no longer wants to see the text; without it there is no button for that. */
	readonly onDismiss?: () => void;
}

/** A text with a button that copies it. */
export function CopyField({ label, value, hint, onCopied, onDismiss }: Props) {
	const id = useId();
	const [isCopied, setCopied] = useState(false);
	const copy = () =>
		copyText(value).then(
			() => {
				setCopied(true);
				onCopied?.();
			},
			// The browser does not allow copying: select the text, so that the user can copy it.
			() => document.querySelector<HTMLInputElement>(`#${CSS.escape(id)}`)?.select(),
		);
	return (
		<div className="copy-field">
			<label htmlFor={id}>{label}</label>
			<div>
				<input
					id={id}
					className="field"
					readOnly
					value={value}
					onFocus={({ target }) => target.select()}
					onCopy={() => onCopied?.()}
				/>
				<button type="button" className="button" onClick={copy}>
					{isCopied ? 'Copied' : 'Copy'}
				</button>
				{onDismiss && (
					<button type="button" className="button" onClick={onDismiss}>
						Dismiss
					</button>
				)}
			</div>
			{hint && <p className="hint">{hint}</p>}
		</div>
	);
}
