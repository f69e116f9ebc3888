/** The type of a file by its extension: media type, and Slack's short and long name. */

export interface FileType {
	readonly mimetype: string;
	readonly filetype: string;
	readonly pretty: string;
}

const TYPES: Readonly<Record<string, readonly [mimetype: string, pretty: string]>> = {
	avif: ['image/avif', 'AVIF'],
	bmp: ['image/bmp', 'BMP'],
	csv: ['text/csv', 'CSV'],
	doc: ['application/msword', 'Word Document'],
	docx: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'Word Document'],
	flac: ['audio/flac', 'FLAC'],
	gif: ['image/gif', 'GIF'],
	gz: ['application/gzip', 'Gzip'],
	heic: ['image/heic', 'HEIC'],
	htm: ['text/html', 'HTML'],
	html: ['text/html', 'HTML'],
	jpeg: ['image/jpeg', 'JPEG'],
	jpg: ['image/jpeg', 'JPEG'],
	js: ['text/javascript', 'JavaScript'],
	json: ['application/json', 'JSON'],
	log: ['text/plain', 'Plain Text'],
	m4a: ['audio/mp4', 'MPEG 4 Audio'],
	md: ['text/markdown', 'Markdown'],
	mov: ['video/quicktime', 'QuickTime Movie'],
	mp3: ['audio/mpeg', 'MP3'],
	mp4: ['video/mp4', 'MPEG 4 Video'],
	odt: ['application/vnd.oasis.opendocument.text', 'OpenDocument Text'],
	ogg: ['audio/ogg', 'OGG'],
	pdf: ['application/pdf', 'PDF'],
	png: ['image/png', 'PNG'],
	ppt: ['application/vnd.ms-powerpoint', 'PowerPoint'],
	pptx: ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'PowerPoint'],
	svg: ['image/svg+xml', 'SVG'],
	tar: ['application/x-tar', 'Tar'],
	txt: ['text/plain', 'Plain Text'],
	wav: ['audio/wav', 'WAV'],
	webm: ['video/webm', 'WebM'],
	webp: ['image/webp', 'WebP'],
	xls: ['application/vnd.ms-excel', 'Excel Spreadsheet'],
	xlsx: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'Excel Spreadsheet'],
	xml: ['application/xml', 'XML'],
	yaml: ['text/yaml', 'YAML'],
	yml: ['text/yaml', 'YAML'],
	zip: ['application/zip', 'Zip'],
};

const SHORT: Readonly<Record<string, string>> = {
	jpeg: 'jpg',
	htm: 'html',
	yml: 'yaml',
	txt: 'text',
	log: 'text',
};

export function fileTypeOf(name: string): FileType {
	const extension = /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? '';
	const found = Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined;
	if (!found)
		return { mimetype: 'application/octet-stream', filetype: extension || 'binary', pretty: 'Binary' };
	return { mimetype: found[0], filetype: SHORT[extension] ?? extension, pretty: found[1] };
}

/** Media types that a browser renders without running code. */
const SHOWN =
	/^(image\/(png|jpeg|gif|webp|avif|bmp)|video\/(mp4|webm|quicktime)|audio\/[\w.-]+|text\/plain)$/;
export const isShownInline = (mimetype: string): boolean => SHOWN.test(mimetype);
