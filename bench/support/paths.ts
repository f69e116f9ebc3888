import { join } from 'node:path';

/** Where things lie, seen from the repository's root. */

export const ROOT = join(import.meta.dir, '..', '..');
export const LATEST = join(ROOT, 'bench', 'results', 'latest.json');
export const PAGE = join(ROOT, 'docs', 'benchmarks.md');
/** Data directories of the servers measured; not kept. */
export const TEMPORARY = join(ROOT, 'bench', 'results', 'tmp');
export const BUN = join(ROOT, 'bin', 'bun');
export const TIDEMARK = join(ROOT, 'bin', 'tidemark');
