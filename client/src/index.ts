export { createClient } from './client.ts';
export { ApiError, isTokenRejected } from './errors.ts';
export type * from './public.ts';
export { attendWindow } from './reading/window.ts';
export type * from './types.ts';
