import { join } from 'node:path';

/** Absolute paths in the repository. */

export const ROOT = join(import.meta.dir, '..', '..');
export const LATEST = join(ROOT, 'bench', 'results', 'latest.json');
export const PAGE = join(ROOT, 'docs', 'benchmarks.md');
/** Data directories of the measured servers; removed afterwards. */
export const TEMPORARY = join(ROOT, 'bench', 'results', 'tmp');
export const BUN = join(ROOT, 'bin', 'bun');
export const TIDEMARK = join(ROOT, 'bin', 'tidemark');
