import type { Figures } from './result.ts';

/** What to make of the figures, and what to do: a sentence each. Pure. */

/** Below this share of the rate asked for, the server did not keep up. */
const KEPT_UP = 0.95;
/** From this on it is the generator that is measured. */
const BUSY_CORES = 0.9;
const LATE_MS = 20;

export function notesOn(figures: Figures): string[] {
	const { posts, load, seconds, errors, generator, counts, deliveries } = figures;
	const notes: string[] = [];
	if (seconds === 0) notes.push('it was ended during the warm-up: nothing was measured');
	if (deliveries.gaps > 0 || deliveries.repeated > 0)
		notes.push(
			'messages were missed or came twice: that must not happen. Keep the server’s log, and report it',
		);
	if (counts && counts.wrong > 0)
		notes.push(
			`counts were wrong: that must not happen. Keep the data, and report it: ${counts.examples.join('; ')}`,
		);
	if (errors.ratelimited)
		notes.push(
			'the server’s limits per user were in the way: start it with --posts-per-second 0 --requests-per-second 0, or spread the load over more people with --online',
		);
	if (Object.keys(errors).some((kind) => kind.includes('4001') || kind.includes('1006')))
		notes.push(
			'sockets were cut off: they read too slowly (see --socket-buffer-kb of the server), or the server went away',
		);
	const isLate = (generator.late_ms?.p99 ?? 0) > LATE_MS;
	if ((generator.cpu_cores ?? 0) > BUSY_CORES)
		notes.push(
			'this generator was busy all the time, so these figures are its own as much as the server’s: run several side by side with a part of the load each',
		);
	else if (isLate)
		notes.push(
			'this generator got too little of the machine to send in time, which is in the latencies: run it on another one than the server',
		);
	const unsent = posts.due - posts.sent;
	if (unsent > 0)
		notes.push(
			`${unsent} posts were due while their authors had no socket, and were not sent: they are missing in the rate, and latencies are those of the others`,
		);
	// Sockets that are away take posts with them that the server never saw: then the rate says nothing about how fast it is.
	const isBehind = posts.per_second < load.rate * KEPT_UP;
	if (seconds > 0 && isBehind && unsent === 0 && !errors.ratelimited)
		notes.push('the rate was not kept up with: what waits grows, and so do latencies. Try a lower --rate');
	if (counts && counts.unclear > 0)
		notes.push(
			`${counts.unclear} counts could not be judged: it is not known what came of some posts or marks`,
		);
	return notes;
}
