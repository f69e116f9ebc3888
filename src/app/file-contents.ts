import { join } from 'node:path';
import { FileDirectory } from '../engine/embedded/file-directory.ts';
import type { FileContents } from '../engine/ports/file-contents.ts';
import { type Config, ConfigError, missingSettings } from './config.ts';

/** Selects where the content of files is stored: an S3 bucket, a directory, or nowhere. */

export const filesDirectory = ({ filesDir, dataDir }: Config): string => filesDir ?? join(dataDir, 'files');

/** For a process that is the only user of its data directory. */
export async function fileContents(config: Config): Promise<FileContents | null> {
	if (config.fileMaxMb === 0) return null;
	const bucket = await bucketOf(config);
	if (bucket) return bucket;
	const directory = new FileDirectory(filesDirectory(config));
	await directory.clearIncoming();
	return directory;
}

/** For gateways of a cluster, which need storage that all of them share. */
export async function sharedContents(config: Config): Promise<FileContents | null> {
	if (config.fileMaxMb === 0) return null;
	return (await bucketOf(config)) ?? (config.filesDir === null ? null : new FileDirectory(config.filesDir));
}

const KEYS = ['s3AccessKeyId', 's3SecretAccessKey'] as const;

/** Checks that the settings of the bucket are complete. */
export function bucketProblems(config: Config): string[] {
	const { s3Bucket, s3Endpoint, filesDir } = config;
	if (s3Bucket !== null)
		return [
			...missingSettings(config, KEYS).map((name) => `${name} is missing: TIDEMARK_S3_BUCKET needs it`),
			...(filesDir === null ? [] : ['TIDEMARK_FILES_DIR and TIDEMARK_S3_BUCKET are both set: choose one']),
		];
	const hasBucketSettings = s3Endpoint !== null || KEYS.some((name) => config[name] !== null);
	return hasBucketSettings ? ['TIDEMARK_S3_BUCKET is missing: other TIDEMARK_S3_… settings need it'] : [];
}

async function bucketOf(config: Config): Promise<FileContents | null> {
	const problems = bucketProblems(config);
	if (problems.length > 0) throw new ConfigError(problems);
	const { s3Bucket, s3Endpoint, s3Region, s3AccessKeyId, s3SecretAccessKey, installation } = config;
	if (s3Bucket === null) return null;
	// Loaded only if a bucket is configured.
	const { S3Bucket } = await import('../engine/cluster/s3-bucket.ts');
	return new S3Bucket({
		bucket: s3Bucket,
		endpoint: s3Endpoint,
		region: s3Region,
		accessKeyId: s3AccessKeyId ?? '',
		secretAccessKey: s3SecretAccessKey ?? '',
		prefix: installation,
	});
}
