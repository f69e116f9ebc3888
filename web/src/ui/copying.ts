/** Copies a text to the clipboard. Without https browsers offer pages no clipboard; there the older `copy` command is used. */
export async function copyText(text: string): Promise<void> {
	if (navigator.clipboard) return navigator.clipboard.writeText(text);
	const before = document.activeElement as HTMLElement | null;
	const box = document.createElement('textarea');
	box.value = text;
	// Inside an open dialog, because nothing outside of it can be selected.
	(document.querySelector('dialog[open]') ?? document.body).append(box);
	box.select();
	const isCopied = document.execCommand('copy');
	box.remove();
	before?.focus();
	if (!isCopied) throw new Error('the browser copied nothing');
}
