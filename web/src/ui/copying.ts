/** Copies a text to the clipboard. Without https, browsers have no `navigator.clipboard`: then the older `copy` command does it. */
export async function copyText(text: string): Promise<void> {
	if (navigator.clipboard) return navigator.clipboard.writeText(text);
	const before = document.activeElement as HTMLElement | null;
	const box = document.createElement('textarea');
	box.value = text;
	// If a dialog is open, the box goes inside it: text outside cannot be selected.
	(document.querySelector('dialog[open]') ?? document.body).append(box);
	box.select();
	const isCopied = document.execCommand('copy');
	box.remove();
	before?.focus();
	if (!isCopied) throw new Error('the browser did not copy the text');
}
