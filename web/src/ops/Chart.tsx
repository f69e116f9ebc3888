import { useEffect, useMemo, useRef } from 'react';
import UPlot from 'uplot';
import { tickTime } from '../ui/format.ts';
import type { ChartSpec, Scrape } from './charts.ts';

/** A chart of values over time, drawn by uPlot. The newest values also appear as text. */

const HEIGHT = 170;
const COLOURS = ['--chart-1', '--chart-2', '--chart-3'];
/** Steps of the time axis, and the shortest time that it shows; both in seconds. */
const STEPS = [15, 30, 60, 120, 300];
const MIN_SECONDS = 60;
/** Axis steps of charts whose values are whole numbers. */
const WHOLE_STEPS = Array.from({ length: 8 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();

interface Props {
	readonly spec: ChartSpec;
	readonly scrapes: readonly Scrape[];
	/** uPlot reads the colours once, so the chart is rebuilt when the theme changes. */
	readonly theme: string;
}

const shown = (value: number | null | undefined, unit: string): string => {
	if (value === null || value === undefined) return '–';
	const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
	const number = Number.isInteger(value) ? value.toLocaleString() : value.toFixed(digits);
	return unit === '/s' ? `${number}/s` : unit ? `${number} ${unit}` : number;
};

export function Chart({ spec, scrapes, theme }: Props) {
	const place = useRef<HTMLDivElement>(null);
	const plot = useRef<UPlot | null>(null);
	const data = useMemo(() => dataOf(spec, scrapes), [spec, scrapes]);

	// biome-ignore lint/correctness/useExhaustiveDependencies: the effect below passes new data to the chart
	useEffect(() => {
		const element = place.current;
		if (!element) return;
		const made = new UPlot(optionsOf(spec, element), data, element);
		plot.current = made;
		const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
		watcher.observe(element);
		return () => {
			watcher.disconnect();
			made.destroy();
		};
	}, [spec, theme]);
	useEffect(() => plot.current?.setData(data), [data]);

	return (
		<section className="chart" aria-label={spec.title}>
			<header>
				<h2>{spec.title}</h2>
				<dl>
					{spec.lines.map(({ label }, index) => (
						<div key={label} className={`line-${index}`}>
							<dt>{label}</dt>
							<dd>{shown(data[index + 1]?.at(-1), spec.unit)}</dd>
						</div>
					))}
				</dl>
			</header>
			<div ref={place} aria-hidden="true" />
		</section>
	);
}

/** Starts at the second scrape, because a rate needs two. */
function dataOf(spec: ChartSpec, scrapes: readonly Scrape[]): UPlot.AlignedData {
	const pairs = scrapes.slice(1).map((now, index) => [scrapes[index] ?? now, now] as const);
	const lines = spec.lines.map(({ read }) => pairs.map(([before, now]) => read(before, now) ?? null));
	return [pairs.map(([, now]) => now.at), ...lines];
}

function optionsOf(spec: ChartSpec, element: HTMLElement): UPlot.Options {
	const style = getComputedStyle(element);
	const probe = document.createElement('span');
	element.append(probe);
	/** The browser resolves the colour, because a canvas does not support light-dark(). */
	const colour = (name: string): string => {
		probe.style.color = `var(${name})`;
		return getComputedStyle(probe).color;
	};
	const [soft, grid] = [colour('--soft'), colour('--line')];
	const strokes = COLOURS.map(colour);
	probe.remove();
	const axis = {
		stroke: soft,
		grid: { stroke: grid, width: 1 },
		ticks: { stroke: grid, width: 1 },
		font: `11px ${style.fontFamily}`,
	};
	return {
		width: element.clientWidth,
		height: HEIGHT,
		legend: { show: false },
		cursor: { y: false },
		// Room for half of the last label, which may be below the end of the line.
		padding: [10, 24, 0, 0],
		axes: [
			{
				...axis,
				size: 32,
				space: 64,
				incrs: STEPS,
				values: (_, ticks, __, ___, step) => ticks.map((tick) => tickTime(tick, step < 60)),
			},
			{
				...axis,
				size: 64,
				...(spec.unit === '' ? { incrs: WHOLE_STEPS } : {}),
				values: (_, ticks) => ticks.map((tick) => shown(tick, spec.unit)),
			},
		],
		scales: {
			x: { range: (_, first, last) => [Math.min(first, last - MIN_SECONDS), last] },
			y: { range: (_, __, most) => [0, Math.max(most * 1.15, 1)] },
		},
		series: [
			{},
			...spec.lines.map(({ label }, index) => ({
				label,
				stroke: strokes[index] ?? soft,
				width: 2,
				points: { show: false },
			})),
		],
	};
}
