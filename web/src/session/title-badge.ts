import { shortCount } from '../ui/format.ts';

/** Shows the badge in the title and on the icon of the tab, so that it is visible while the tab is in the background. */

const SIZE = 64;

export function titleOf(badge: number, hasUnreads: boolean, where: string): string {
	const prefix = badge > 0 ? `(${shortCount(badge)}) ` : hasUnreads ? '• ' : '';
	return `${prefix}${where ? `${where} · ` : ''}Tidemark`;
}

export function showBadge(badge: number, hasUnreads: boolean, where: string): void {
	document.title = titleOf(badge, hasUnreads, where);
	const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
	if (!link) return;
	link.dataset.plain ??= link.href;
	link.dataset.badge = String(badge);
	if (badge === 0) link.href = link.dataset.plain;
	else
		void drawn(link.dataset.plain, shortCount(badge)).then((href) => {
			// Another badge may have been requested while this one was drawn.
			if (link.dataset.badge === String(badge)) link.href = href;
		});
}

async function drawn(plain: string, text: string): Promise<string> {
	const picture = new Image(SIZE, SIZE);
	picture.src = plain;
	// Without a connection the icon may be missing: then draw the badge alone.
	const isLoaded = await picture.decode().then(
		() => true,
		() => false,
	);
	const canvas = document.createElement('canvas');
	canvas.width = SIZE;
	canvas.height = SIZE;
	const pen = canvas.getContext('2d');
	if (!pen) return plain;
	if (isLoaded) pen.drawImage(picture, 0, 0, SIZE, SIZE);
	const width = text.length > 2 ? 52 : text.length > 1 ? 44 : 36;
	pen.fillStyle = '#d0342c';
	pen.beginPath();
	pen.roundRect(SIZE - width, SIZE - 36, width, 36, 18);
	pen.fill();
	pen.fillStyle = '#fff';
	pen.font = 'bold 28px sans-serif';
	pen.textAlign = 'center';
	pen.textBaseline = 'middle';
	pen.fillText(text, SIZE - width / 2, SIZE - 17);
	return canvas.toDataURL('image/png');
}
