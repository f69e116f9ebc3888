import type { User } from '../../engine/ports/store.ts';
import { teamJoinEvent, userChangeEvent } from '../../protocol/people-events.ts';
import type { Services } from '../services.ts';

/** Sends `user_change` to everybody in the workspace. */
export function announceUser({ bus, clock }: Pick<Services, 'bus' | 'clock'>, user: User): void {
	const frame = JSON.stringify(userChangeEvent(user, clock.last()));
	bus.publish(`team:${user.team}`, { type: 'event', frame });
}

/** Sends `team_join` to everybody in the workspace. */
export function announceNewUser({ bus }: Pick<Services, 'bus'>, user: User): void {
	bus.publish(`team:${user.team}`, { type: 'event', frame: JSON.stringify(teamJoinEvent(user)) });
}
