import type { Services } from '../services.ts';

/** Every gateway looks at the app again: it was made, changed or removed. */
export function announceApp({ bus }: Pick<Services, 'bus'>, app: string): void {
	bus.publish('gateways:all', { type: 'app_changed', app });
}
