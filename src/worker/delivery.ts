import type { Bus } from '../engine/ports/bus.ts';
import { announcementsOf } from '../protocol/events.ts';
import type { Effect } from '../sequencer/effects.ts';

/**
 * Publishes the event of an effect after it was applied. The event is serialised and published once,
 * regardless of the size of the conversation.
 */
export function deliver(effect: Effect, bus: Pick<Bus, 'publish'>): void {
	const { at } = effect;
	const conversation = effect.conversation.id;
	// Subscribe users who join before the events, unsubscribe users who leave after them.
	if (effect.type === 'joined') for (const user of effect.users) enter(user);
	if (effect.type === 'created') for (const user of effect.members) enter(user);
	for (const { audience, event, about } of announcementsOf(effect)) {
		const frame = JSON.stringify(event.wire);
		const { subject } = event;
		const message = { type: 'event', frame, at, subject, ...(about ? { about } : {}) } as const;
		if (audience.to === 'members')
			bus.publish(
				`live:${conversation}`,
				audience.except === undefined ? message : { ...message, exceptUser: audience.except },
			);
		else if (audience.to === 'team') bus.publish(`team:${effect.conversation.team}`, message);
		else bus.publish(`user:${audience.user}`, message);
	}
	if (effect.type === 'left')
		bus.publish(`user:${effect.user}`, { type: 'left', user: effect.user, conversation, at });

	function enter(user: string): void {
		bus.publish(`user:${user}`, { type: 'joined', user, conversation, at });
	}
}
