/** The logo of Tidemark. */
export const Wave = () => (
	<svg className="wave" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
		<rect width="32" height="32" rx="8" />
		<path d="M6 13c3.300 0 3.300 3 6.700 3s3.300-3 6.600-3 3.400 3 6.700 3" />
		<path d="M6 21c3.300 0 3.300 3 6.700 3s3.300-3 6.600-3 3.400 3 6.700 3" />
	</svg>
);
