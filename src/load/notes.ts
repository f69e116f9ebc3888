import type { Figures } from './result.ts';

/** Interprets the figures and says what to do, one sentence each. Pure. */

/** Below this share of the requested rate, the server did not keep up. */
const KEPT_UP = 0.95;
/** Above this, the generator is the bottleneck. */
const BUSY_CORES = 0.9;
const LATE_MS = 20;

export function notesOn(figures: Figures): string[] {
	const { posts, load, seconds, errors, generator, counts, deliveries } = figures;
	const notes: string[] = [];
	if (seconds === 0) notes.push('interrupted during the warm-up: nothing was measured');
	if (deliveries.gaps > 0 || deliveries.repeated > 0)
		notes.push('messages were lost or repeated: this is a bug. Keep the server’s log and report it');
	if (counts && counts.wrong > 0)
		notes.push(
			`counts were wrong: this is a bug. Keep the data and report it: ${counts.examples.join('; ')}`,
		);
	if (errors.ratelimited)
		notes.push(
			'the server’s limits per user rejected requests: start it with --posts-per-second 0 --requests-per-second 0, or spread the load over more users with --online',
		);
	if (Object.keys(errors).some((kind) => kind.includes('4001') || kind.includes('1006')))
		notes.push(
			'sockets were closed: they were read too slowly (see --socket-buffer-kb of the server), or the server stopped',
		);
	const isLate = (generator.late_ms?.p99 ?? 0) > LATE_MS;
	if ((generator.cpu_cores ?? 0) > BUSY_CORES)
		notes.push(
			'this generator was busy all the time, so the figures measure it as much as the server: run several generators in parallel, each with a part of the load',
		);
	else if (isLate)
		notes.push(
			'this generator got too little CPU to send on time, and the latencies include the delay: run it on another machine than the server',
		);
	const unsent = posts.due - posts.sent;
	if (unsent > 0)
		notes.push(
			`${unsent} posts were due while their authors had no socket and were not sent: the rate does not include them, and the latencies are those of the other posts`,
		);
	// Posts of disconnected users never reached the server, so the rate then says nothing about the server.
	const isBehind = posts.per_second < load.rate * KEPT_UP;
	if (seconds > 0 && isBehind && unsent === 0 && !errors.ratelimited)
		notes.push(
			'the server did not keep up with the rate, so the backlog and the latencies grow. Try a lower --rate',
		);
	if (counts && counts.unclear > 0)
		notes.push(
			`${counts.unclear} counts could not be checked: the outcome of some posts or marks is unknown`,
		);
	return notes;
}
