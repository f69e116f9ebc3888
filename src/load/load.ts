/** The kinds and amounts of load. */
export interface Load {
	readonly conversations: number;
	readonly members: number;
	readonly online: number;
	/** Posts per second. */
	readonly rate: number;
	readonly seconds: number;
	readonly warmUp: number;
	readonly textBytes: number;
	/** Read marks per second. */
	readonly marks: number;
}
