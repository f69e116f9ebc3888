import { Rejection } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { MAX_PHOTO_BYTES, MAX_PHOTO_PIXELS, PHOTO_NAME, photoTypeOf } from '../../../model/photos.ts';
import { wireProfile } from '../../../protocol/objects.ts';
import { filesOf } from '../../files/access.ts';
import { PHOTO_OBJECT } from '../../files/photos.ts';
import { required } from '../arguments.ts';
import { type UserCall, userMethod, wallMicros } from '../method.ts';
import { publishUserChange } from '../publish-changes.ts';
import { userOf } from './users.ts';

/** The photo of the caller: its content is stored like that of files, its name in the profile. */

const image = required<Blob>({
	expects: 'a picture, as a file of a multipart form',
	bad: 'bad_image',
	missing: 'bad_image',
	parse: (value) => (value instanceof Blob ? value : undefined),
});

export const usersSetPhoto = userMethod({
	arguments: { image },
	ignored: ['crop_w', 'crop_x', 'crop_y'],
	run: async (args, call) => {
		const { contents } = filesOf(call.services);
		if (args.image.size > MAX_PHOTO_BYTES)
			throw new Rejection('too_large', `image: at most ${MAX_PHOTO_BYTES} bytes`);
		const bytes = new Uint8Array(await args.image.arrayBuffer());
		const type = photoTypeOf(bytes);
		if (type === null)
			throw new Rejection(
				'bad_image',
				`image: send PNG, JPEG, GIF or WebP with at most ${MAX_PHOTO_PIXELS} pixels each way`,
			);
		const id = newId('F', call.services.random);
		await contents.write(id, PHOTO_OBJECT, once(bytes));
		return setPhoto(call, `${id}.${type}`);
	},
});

export const usersDeletePhoto = userMethod({
	arguments: {},
	run: (_args, call) => setPhoto(call, ''),
});

/** `photo` is empty to remove the photo. */
async function setPhoto(call: UserCall, photo: string) {
	const { services, caller } = call;
	const before = await userOf(call, caller.user.id);
	const { photo: old, ...others } = before.profile;
	const profile = photo === '' ? others : { ...others, photo };
	await services.directory.setProfile(before.id, profile, before.realName, services.clock.next());
	const [, unused] = PHOTO_NAME.exec(old ?? '') ?? [];
	// The old photo is unreachable now: if it cannot be removed, it only takes space.
	if (unused) await services.files?.contents.remove(unused).catch(() => undefined);
	const user = await userOf(call, before.id);
	publishUserChange(services, user);
	return { profile: wireProfile(user, wallMicros()) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
	yield bytes;
}
