import { postgresPlace } from '../support/postgres.ts';
import { describePushContract } from './outbox-contract.ts';

describePushContract('PostgreSQL', async () => {
	const place = await postgresPlace();
	return { open: (push) => place.open({ push }), remove: () => place.remove() };
});
