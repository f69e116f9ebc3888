import type {
	CommandHandler,
	CommandLog,
	CommandRecord,
	Consumption,
	PartitionOwner,
} from '../../ports/log.ts';
import { decodeCommand, encodeCommand } from './codec.ts';
import type { LogTopic } from './topic.ts';

/** The log of commands, keyed by conversation. */
export class KafkaCommandLog implements CommandLog {
	constructor(private readonly topic: LogTopic) {}

	append(record: CommandRecord): Promise<void> {
		return this.topic.append(record.command.conversation, encodeCommand(record));
	}

	consume(handler: CommandHandler, owner?: PartitionOwner): Consumption {
		if (!owner) throw new Error('consuming Kafka needs an owner that stores the offsets');
		return this.topic.consume({
			decode: decodeCommand,
			owner,
			handle: (batch, span) =>
				handler(
					batch.map(({ body, offset }) => ({ ...body, partition: span.partition, offset })),
					span,
				),
		});
	}
}
