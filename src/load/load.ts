/** How much load, of what kind. */
export interface Load {
	readonly conversations: number;
	readonly members: number;
	readonly online: number;
	/** Posts a second. */
	readonly rate: number;
	readonly seconds: number;
	readonly warmUp: number;
	readonly textBytes: number;
	/** Read marks a second. */
	readonly marks: number;
}
