import { useId, useState } from 'react';

interface Props {
	readonly label: string;
	readonly value: string;
	readonly hint?: string;
}

/** A text to take elsewhere, with a button that copies it. */
export function CopyField({ label, value, hint }: Props) {
	const id = useId();
	const [isCopied, setCopied] = useState(false);
	const copy = () =>
		navigator.clipboard?.writeText(value).then(
			() => setCopied(true),
			// Without https there is no clipboard: the text is selected, to be copied by hand.
			() => document.querySelector<HTMLInputElement>(`#${CSS.escape(id)}`)?.select(),
		);
	return (
		<div className="copy-field">
			<label htmlFor={id}>{label}</label>
			<div>
				<input id={id} className="field" readOnly value={value} onFocus={({ target }) => target.select()} />
				<button type="button" className="button" onClick={copy}>
					{isCopied ? 'Copied' : 'Copy'}
				</button>
			</div>
			{hint && <p className="hint">{hint}</p>}
		</div>
	);
}
