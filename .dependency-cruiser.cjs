// The direction of the code, checked: model ← sequencer ← domains ← app; engines know ports and model, never domains.
// Type-only imports count as well: a type that points the wrong way is how a wrong dependency starts.

const PORTS = '^src/engine/ports(/|\\.ts$)';
const MODEL = '^src/model/';
const SEQUENCER = '^src/sequencer/';
const APP = '^src/app/';
const OF_A_CLUSTER = '^src/(engine/cluster/|app/(cluster|cluster-engine|worker|doctor/services)\\.ts$)';

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
	forbidden: [
		forbid(
			'no-cycles',
			'Two files that import each other belong in one file, or need a third.',
			{},
			{ circular: true },
		),
		forbid('model-is-pure', 'src/model imports only itself.', { path: MODEL }, { pathNot: MODEL }),
		forbid(
			'sequencer-is-pure',
			'src/sequencer imports only itself and model.',
			{ path: SEQUENCER },
			{ pathNot: [SEQUENCER, MODEL] },
		),
		forbid(
			'ports-are-contracts',
			'src/engine/ports imports only itself, model and sequencer.',
			{ path: PORTS },
			{ pathNot: [PORTS, MODEL, SEQUENCER] },
		),
		forbid(
			'ports-take-types-from-sequencer',
			'A port names what the sequencer works on; it does not run it.',
			{ path: PORTS },
			{ path: SEQUENCER, dependencyTypesNot: ['type-only'] },
		),
		forbid(
			'engines-know-no-domain',
			'src/engine imports only engine, model and sequencer (and packages).',
			{ path: '^src/engine/' },
			{ path: '^src/', pathNot: ['^src/engine/', MODEL, SEQUENCER] },
		),
		forbid(
			'only-app-names-an-engine',
			'Domains see src/engine/ports; src/app alone chooses the engine behind them.',
			{ path: '^src/', pathNot: [APP, '^src/engine/'] },
			{ path: '^src/engine/', pathNot: PORTS },
		),
		forbid(
			'only-main-starts-app',
			'src/app is the composition root: it imports everything, so only main.ts may import it.',
			{ path: '^src/', pathNot: [APP, '^src/main\\.ts$'] },
			{ path: APP },
		),
		forbid(
			'main-only-calls-app',
			'src/main.ts reads the command line and calls src/app.',
			{ path: '^src/main\\.ts$' },
			{ path: '^src/', pathNot: APP },
		),
		forbid(
			'a-cluster-is-loaded-when-asked-for',
			'Loading the clients of Kafka, Redis and PostgreSQL takes most of the start: other commands must not wait for it.',
			{ path: APP, pathNot: OF_A_CLUSTER },
			{ path: OF_A_CLUSTER, dependencyTypesNot: ['type-only', 'dynamic-import'] },
		),
		forbid(
			'product-without-its-tests',
			'Shipped code imports nothing from test, bench or scripts.',
			{ path: '^(src|client/src)/' },
			{ path: '^(test|bench|scripts)/' },
		),
		forbid(
			'client-stands-alone',
			'The SDK runs in browsers: it imports only itself, and React in its entry for it.',
			{ path: '^client/src/' },
			{ pathNot: ['^client/src/', '(^|/)node_modules/(@types/)?react/'] },
		),
		forbid(
			'react-only-in-its-entry',
			'Applications without React must not need it: only react.ts may import a package.',
			{ path: '^client/src/', pathNot: '^client/src/react\\.ts$' },
			{ path: 'node_modules/' },
		),
		forbid(
			'load-from-outside',
			'Load generator and API client use a server only through its methods and sockets.',
			{ path: '^src/(load|remote)/' },
			{ path: '^src/', pathNot: ['^src/(load|remote)/', MODEL] },
		),
		forbid(
			'server-without-client',
			'The server imports neither the SDK nor the web interface.',
			{ path: '^src/' },
			{ path: '^(client|web)/' },
		),
		forbid(
			'web-through-the-sdk',
			'The web interface imports only the entries of the SDK, and no server code.',
			{ path: '^web/' },
			{
				path: '^(src|client|test|bench|scripts)/',
				pathNot: '^client/src/(index|react)\\.ts$',
			},
		),
		forbid(
			'bun-stays-at-the-edge',
			"Only engines, the gateway and app may import Bun's modules.",
			{ path: '^src/', pathNot: ['^src/engine/(embedded|cluster)/', '^src/gateway/', APP] },
			// The module `bun` resolves to its types or its package, `bun:sqlite` and the like to themselves.
			{ path: '^bun(:|$)|(^|/)node_modules/(@types/bun|bun-types|bun)/' },
		),
	],
	options: {
		// Tests beside the code import bun:test and helpers; they are not shipped.
		exclude: { path: '\\.test\\.ts$' },
		doNotFollow: { path: 'node_modules' },
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
