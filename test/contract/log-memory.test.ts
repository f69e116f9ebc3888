import { MemoryLog } from '../../src/engine/embedded/memory-log.ts';
import { logContract } from '../support/log/contract.ts';

logContract('memory', async () => ({ commands: new MemoryLog(), close: async () => undefined }));
