import { ApiError } from '@tidemark/client';
import { type FormEvent, useId, useState } from 'react';
import { sayError } from '../ui/states.tsx';

interface Props {
	readonly label: string;
	readonly value: string;
	/** What stands there while there is nothing. */
	readonly empty: string;
	readonly maxLength: number;
	readonly isOpen?: boolean;
	readonly onSave: (value: string) => Promise<void>;
}

/** A line that is read until somebody edits it. */
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
				// biome-ignore lint/a11y/noAutofocus: it was asked for
				autoFocus
				autoComplete="off"
				maxLength={maxLength}
				value={draft}
				aria-invalid={error !== null}
				onChange={({ target }) => setDraft(target.value)}
				onKeyDown={(event) => {
					if (event.key !== 'Escape') return;
					// Only out of this line, not out of the dialog.
					event.preventDefault();
					setDraft(null);
					setError(null);
				}}
			/>
			<button type="submit" className="button primary small">
				Save
			</button>
			{error && (
				<p className="refusal" role="alert">
					{sayError(error)}
				</p>
			)}
		</form>
	);
}
