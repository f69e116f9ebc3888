import { useRef } from 'react';
import { IconButton } from '../ui/IconButton.tsx';

/** Opens the browser's own choice of files. */
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
					// Choosing the same file again is a change too.
					target.value = '';
				}}
			/>
		</>
	);
}
