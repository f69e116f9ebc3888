import { address, setting, text, wholeNumber } from './setting.ts';

/** Settings of uploaded files: their size, and the directory or bucket that stores them. */
export const fileSettings = {
	filesDir: setting(
		'files-dir',
		{
			help: 'directory for the content of files; if not set, `files` in the data directory',
			helpFor: { cluster: 'directory for the content of files, shared by all gateways; or set s3-bucket' },
		},
		null as string | null,
		text,
	),
	fileMaxMb: setting('file-max-mb', 'maximum size of a file; 0 disables files', 100, wholeNumber(0, 10_240)),
	teamFilesMb: setting(
		'team-files-mb',
		'maximum size of all files of a workspace together',
		10_240,
		wholeNumber(1, 1_000_000_000),
	),
	s3Bucket: setting(
		's3-bucket',
		'S3-compatible bucket for the content of files, instead of a directory',
		null as string | null,
		text,
	),
	s3Endpoint: setting(
		's3-endpoint',
		'address of the S3-compatible service; if not set, Amazon’s',
		null as string | null,
		address('https', 'http'),
	),
	s3Region: setting('s3-region', 'region of the bucket', 'us-east-1', text),
	s3AccessKeyId: setting('s3-access-key-id', 'access key id for the bucket', null as string | null, text),
	s3SecretAccessKey: setting(
		's3-secret-access-key',
		'secret access key for the bucket',
		null as string | null,
		text,
		true,
	),
} as const;
