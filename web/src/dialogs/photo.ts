/** Cuts a square from the middle of a picture, and scales it to a size that the server accepts as a photo. */

const PIXELS = 256;

export async function squareOf(file: File): Promise<Blob> {
	const picture = await createImageBitmap(file);
	const side = Math.min(picture.width, picture.height);
	const canvas = document.createElement('canvas');
	canvas.width = PIXELS;
	canvas.height = PIXELS;
	const [x, y] = [(picture.width - side) / 2, (picture.height - side) / 2];
	canvas.getContext('2d')?.drawImage(picture, x, y, side, side, 0, 0, PIXELS, PIXELS);
	picture.close();
	const type = file.type === 'image/png' ? 'image/png' : 'image/jpeg';
	return new Promise((resolve, reject) =>
		canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), type, 0.9),
	);
}
