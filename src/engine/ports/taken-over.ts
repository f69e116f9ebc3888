/** What a worker was about to do with a partition is void, because another worker owns it by now and decides the same again. */
export abstract class TakenOver extends Error {}
