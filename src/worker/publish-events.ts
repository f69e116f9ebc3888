import type { Bus, BusMessage } from '../engine/ports/bus.ts';
import { announcementsOf } from '../protocol/events.ts';
import type { Effect } from '../sequencer/effects.ts';

/**
 * Publishes the events of an effect; call it after the effect was applied. Each event is serialised and published once,
 * regardless of the size of the conversation.
 */
export function publishEvents(effect: Effect, bus: Pick<Bus, 'publish'>): void {
	const { at } = effect;
	const conversation = effect.conversation.id;
	// Gateways of users who join start to subscribe before the events are published; those of users who leave unsubscribe afterwards.
	if (effect.type === 'joined') for (const user of effect.users) subscribe(user);
	if (effect.type === 'created') for (const user of effect.members) subscribe(user);
	for (const { audience, event, about } of announcementsOf(effect)) {
		const frame = JSON.stringify(event.wire);
		const { subject } = event;
		// No spread: every post comes through here.
		const message: BusMessage = about
			? { type: 'event', frame, at, subject, about }
			: { type: 'event', frame, at, subject };
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

	function subscribe(user: string): void {
		bus.publish(`user:${user}`, { type: 'joined', user, conversation, at });
	}
}
