import { ApiError } from '@tidemark/client';
import { type FormEvent, useId, useState } from 'react';
import { errorText } from '../ui/states.tsx';

interface Props {
	readonly label: string;
	readonly value: string;
	/** Shown while there is no text. */
	readonly empty: string;
	readonly maxLength: number;
	readonly isOpen?: boolean;
	readonly onSave: (value: string) => Promise<void>;
}

/** A line of text that turns into a field for editing. */
export function EditableLine({ label, value, empty, maxLength, isOpen = false, onSave }: Props) {
	const id = useId();
	const [draft, setDraft] = useState<string | null>(isOpen ? value : null);
	const [error, setError] = useState<string | null>(null);
	const save = async (event: FormEvent) => {
		event.preventDefault();
		try {
			if (draft !== null && draft.trim() !== value) await onSave(draft.trim());
			setDraft(null);
			setError(null);
		} catch (reason) {
			setError(reason instanceof ApiError ? reason.code : 'network_error');
		}
	};
	if (draft === null)
		return (
			<div className="editable">
				<span className="editable-label">{label}</span>
				<span className={value ? 'editable-value' : 'editable-value hint'}>{value || empty}</span>
				<button type="button" className="link" onClick={() => setDraft(value)}>
					Edit<span className="only-read-aloud"> the {label.toLowerCase()}</span>
				</button>
			</div>
		);
	return (
		<form className="editable" onSubmit={save}>
			<label className="editable-label" htmlFor={id}>
				{label}
			</label>
			<input
				id={id}
				className="field"
				// biome-ignore lint/a11y/noAutofocus: the user chose to edit this line
				autoFocus
				autoComplete="off"
				maxLength={maxLength}
				value={draft}
				aria-invalid={error !== null}
				onChange={({ target }) => setDraft(target.value)}
				onKeyDown={(event) => {
					if (event.key !== 'Escape') return;
					// Ends editing without closing the dialog.
					event.preventDefault();
					setDraft(null);
					setError(null);
				}}
			/>
			<button type="submit" className="button primary small">
				Save
			</button>
			{error && (
				<p className="rejection" role="alert">
					{errorText(error)}
				</p>
			)}
		</form>
	);
}
