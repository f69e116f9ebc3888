/** The pictures on buttons, drawn with the text's colour. They say nothing by themselves: whoever shows one names it. */

const PATHS = {
	hash: 'M9 4 7 20M17 4l-2 16M4 9h17M3 15h17',
	lock: 'M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3',
	at: 'M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Zm0 0v1.500a2.500 2.500 0 0 0 5 0V12a9 9 0 1 0-3.500 7.100',
	thread: 'M4 5h16v11H9l-5 4zM8 9h8M8 12h5',
	inbox: 'M4 13 6.500 5h11L20 13v6H4zM4 13h5l1.500 2.500h3L15 13h5',
	people:
		'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM2.500 20a6.500 6.500 0 0 1 13 0M16 4.300a3.500 3.500 0 0 1 0 6.400M18 14.500a6.500 6.500 0 0 1 3.500 5.500',
	muted:
		'M18 16H6l1.500-3V10a4.500 4.500 0 0 1 .6-2.250M10 5.900A4.500 4.500 0 0 1 16.500 10v3l.4.800M10 19.500a2 2 0 0 0 4 0M4 4l16 16',
	bell: 'M6 16h12l-1.500-3V10a4.500 4.500 0 0 0-9 0v3zM10 19.500a2 2 0 0 0 4 0',
	more: 'M5 12h.01M12 12h.01M19 12h.01',
	close: 'M6 6l12 12M18 6 6 18',
	send: 'M4 12 20 4l-5 16-3.500-6.500zM11.500 13.500 20 4',
	sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M5.300 18.700l1.400-1.400M17.300 6.700l1.400-1.400',
	moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500Z',
	search: 'M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13ZM15.500 15.500 20.500 20.500',
	plus: 'M12 5v14M5 12h14',
	up: 'M12 19V5M6 11l6-6 6 6',
	down: 'M12 5v14M6 13l6 6 6-6',
	check: 'M4.500 12.500 9.500 17.500 19.500 6.500',
	back: 'M15 5 8 12l7 7',
	edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
	question: 'M9 9a3 3 0 1 1 4.500 2.600c-1 .600-1.500 1.200-1.500 2.400M12 17.500h.01',
	eye: 'M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12ZM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
	devices: 'M3 5h12v9H3zM1.500 18h10M17 9h5v11h-5z',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }) => (
	<svg className={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
		<path d={PATHS[name]} />
	</svg>
);
