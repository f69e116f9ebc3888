import { useRef } from 'react';
import { IconButton } from '../ui/IconButton.tsx';

/** Opens the browser's file chooser. */
export function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
	const input = useRef<HTMLInputElement>(null);
	return (
		<>
			<IconButton icon="clip" label="Attach files" onClick={() => input.current?.click()} />
			<input
				ref={input}
				type="file"
				multiple
				hidden
				onChange={({ target }) => {
					onFiles([...(target.files ?? [])]);
					// Clear it: otherwise choosing the same file again would cause no change event.
					target.value = '';
				}}
			/>
		</>
	);
}
