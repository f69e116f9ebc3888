import { Wave } from '../ui/Wave.tsx';
import { Device } from './Device.tsx';
import { Friend } from './Friend.tsx';

interface Props {
	readonly token: string | null;
	/** The token of a friend who writes to the user. */
	readonly friend: string | null;
}

/** Two devices of one user side by side: a message that is read on one clears the badge on the other. */
export function Devices({ token, friend }: Props) {
	if (!token)
		return (
			<main className="sign-in">
				<section>
					<Wave />
					<h1>One person, two devices</h1>
					<p>
						Two of your devices side by side: when you read a message on one, its badge clears on the other.
						Sign in first, then come back through the menu below your conversations. In the demo, open the
						link that the server printed when it started.
					</p>
					<a className="button primary" href="/">
						Sign in
					</a>
				</section>
			</main>
		);
	return (
		<main className="devices">
			<header className="devices-head">
				<Wave />
				<div>
					<h1>One person, two devices</h1>
					<p>
						{friend ? 'Let the friend send a message, read it' : 'Read a message'} on one device, and watch
						the badge clear on the other. If you mark it unread on one device, the badge returns on both.
					</p>
				</div>
			</header>
			{friend && <Friend token={token} friend={friend} />}
			<div className="devices-row">
				<Device name="Laptop" />
				<Device name="Phone" />
			</div>
		</main>
	);
}
