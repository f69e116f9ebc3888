import { beforeAll } from 'bun:test';
import { onPostgres, postgresPlace } from '../support/postgres.ts';
import { describeStoreContract } from '../support/store/contract.ts';

beforeAll(async () => void (await onPostgres('SELECT 1')));

describeStoreContract('PostgreSQL', () => postgresPlace());
