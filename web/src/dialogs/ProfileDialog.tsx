import { useClient, useUser } from '@tidemark/client/react';
import { useRef } from 'react';
import { useSelf, useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { toast, toastResult } from '../session/toast.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { errorText } from '../ui/states.tsx';
import { EditableLine } from './EditableLine.tsx';
import { squareOf } from './photo.ts';

/** Changes the user's name and photo, which everybody in the workspace sees. */
export function ProfileDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const self = useSelf();
	const name = useUserName(self);
	const hasPhoto = useUser(self)?.photo != null;
	const input = useRef<HTMLInputElement>(null);
	const choose = async (file: File | undefined) => {
		if (!file) return;
		const image = await squareOf(file).catch(() => null);
		if (!image) toast(errorText('bad_image'));
		else toastResult(client.call('users.setPhoto', { image }), 'Your photo was changed.');
	};
	const rename = async (written: string) => {
		if (written !== '') await client.call('users.profile.set', { profile: { real_name: written } });
	};
	return (
		<Dialog title="Your profile" onClose={onClose}>
			<div className="photo">
				<PersonAvatar id={self} name={name} />
				<p className="hint">Everybody in the workspace sees your name and photo beside your messages.</p>
			</div>
			<div className="about">
				<EditableLine label="Name" value={name} empty="" maxLength={80} onSave={rename} />
			</div>
			<input
				ref={input}
				type="file"
				accept="image/*"
				aria-label="Photo"
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
						onClick={() => toastResult(client.call('users.deletePhoto'), 'Your photo was removed.')}
					>
						Remove photo
					</button>
				)}
				<button type="button" className="button primary" onClick={() => input.current?.click()}>
					Choose a photo…
				</button>
			</div>
		</Dialog>
	);
}
