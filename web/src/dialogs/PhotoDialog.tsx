import { useClient, useUser } from '@tidemark/client/react';
import { useRef } from 'react';
import { useSelf, useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { say, showToast } from '../session/toast.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { squareOf } from './photo.ts';

/** The user's own photo: choose one, or go back to initials. */
export function PhotoDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const self = useSelf();
	const name = useUserName(self);
	const hasPhoto = useUser(self)?.photo != null;
	const input = useRef<HTMLInputElement>(null);
	const choose = async (file: File | undefined) => {
		if (!file) return;
		const image = await squareOf(file).catch(() => null);
		if (!image) say('This file is not a picture.');
		else showToast(client.call('users.setPhoto', { image }), 'Your photo was changed.');
	};
	return (
		<Dialog title="Your photo" onClose={onClose}>
			<div className="photo">
				<PersonAvatar id={self} name={name} />
				<p className="hint">Everybody in the workspace sees it beside your messages.</p>
			</div>
			<input
				ref={input}
				type="file"
				accept="image/*"
				aria-label="Picture"
				hidden
				onChange={({ target }) => {
					void choose(target.files?.[0]);
					target.value = '';
				}}
			/>
			<div className="buttons">
				{hasPhoto && (
					<button
						type="button"
						className="button"
						onClick={() => showToast(client.call('users.deletePhoto'), 'Your photo was removed.')}
					>
						Remove
					</button>
				)}
				<button type="button" className="button primary" onClick={() => input.current?.click()}>
					Choose a picture…
				</button>
			</div>
		</Dialog>
	);
}
