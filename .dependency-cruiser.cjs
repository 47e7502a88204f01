/**
 * The layering of src/, checked: imports go downwards in the order of `layers`, a folder is entered through its index.ts,
 * and nothing goes round in a circle.
 */

/** From the bottom up; the folders of one row do not import each other. */
const layers = [
  ['platform'],
  ['fields'],
  ['catalog'],
  ['access'],
  ['store'],
  ['records'],
  ['vectors', 'extracts'],
  ['index'],
  ['synonyms'],
  ['search'],
  ['analytics'],
  ['workers'],
  ['operations'],
  ['plans'],
  ['webhooks', 'people', 'models', 'media', 'documents', 'pictures', 'recordings', 'evals'],
  ['feeds', 'resources', 'proposals', 'backup', 'agents'],
  ['client'],
  ['http', 'cli'],
  ['console'],
];

/**
 * What is loaded costs each thread time at the start. Files that bring a library with them which most threads have no use for
 * are left out of the folder's index.ts; others are what a thread needs of a folder without the rest of it.
 */
const ENTERED_DIRECTLY =
  '^src/(?:[a-z]+/feature|platform/(?:config|exact-json|json-members|limits|logger|metrics|plain-letters|outbound/(?:guarded-agent|outbound-client)|hosts/[a-z-]+|work/index)|webhooks/http-sender|' +
  'records/(?:csv-text|definition-inference|flat-records|format-of-text|json-records|nameless-records|record-lines)|vectors/(?:built-in/model-name|calibration|record-text)|index/segments/kernel-layout|index/parts/part-layout|search/options/search-options|synonyms/synonym-matcher|analytics/(?:learned-searches-cache|folder)|media/store-kinds)\\.ts$';

/**
 * A feature stands above the operations, of which it brings some. Analytics are below them too, for searches are counted and search
 * threads read what was learned: what makes them a feature is these files.
 */
const FEATURE_OF_LOWER_FOLDERS = '^src/analytics/(?:feature|analytics-parts|analytics-operations)\\.ts$';

/**
 * The rooms of the folders that have some, from the bottom up: a room imports only those before it, types included. Files beside the
 * rooms put them together, or are what all of them know (`types.ts`).
 */
const rooms = {
  index: [
    'contract',
    'admission',
    'parts',
    'segments',
    'import',
    'commit',
    'versions',
    'merge',
    'reindex',
    'meaning',
    'resources',
    'lists',
  ],
  search: ['filter', 'rules', 'options', 'earlier', 'plan', 'expansion', 'response', 'execution', 'related', 'suggest'],
  operations: ['answer-cache', 'dispatch', 'openapi', 'api'],
};

const anyOf = (names) => `(?:${names.join('|')})`;

const downwards = layers.slice(0, -1).map((row, position) => ({
  name: `downwards-from-${row[0]}`,
  comment: `src/${row.join(', ')} may import only what lies below`,
  severity: 'error',
  from: { path: `^src/${anyOf(row)}/`, pathNot: FEATURE_OF_LOWER_FOLDERS },
  to: { path: `^src/(?:${anyOf(layers.slice(position + 1).flat())}/|main\\.ts$)` },
}));

const roomByRoom = Object.entries(rooms).flatMap(([folder, names]) =>
  names.slice(0, -1).map((room, position) => ({
    name: `downwards-from-${folder}-${room}`,
    comment: `src/${folder}/${room} may import only the rooms before it`,
    severity: 'error',
    from: { path: `^src/${folder}/${room}/`, pathNot: '\\.test\\.ts$' },
    to: { path: `^src/${folder}/(?:${anyOf(names.slice(position + 1))}/|index\\.ts$)` },
  })),
);

const sideways = layers
  .filter((row) => row.length > 1)
  .map((row) => ({
    name: `not-sideways-in-${row[0]}`,
    comment: 'Folders of one layer do not know each other',
    severity: 'error',
    from: { path: `^src/(${anyOf(row)})/` },
    to: { path: `^src/${anyOf(row)}/`, pathNot: '^src/$1/' },
  }));

module.exports = {
  forbidden: [
    ...downwards,
    ...sideways,
    ...roomByRoom,
    {
      name: 'through-the-index',
      comment: 'Another folder is entered through its index.ts, which is its public surface',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '^src/[^/]+/',
        pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$', ENTERED_DIRECTLY],
      },
    },
    {
      name: 'root-through-the-index',
      comment: 'So does the composition root',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$' },
      to: {
        path: '^src/[^/]+/',
        pathNot: ['^src/[^/]+/index\\.ts$', ENTERED_DIRECTLY],
      },
    },
    {
      name: 'features-are-in-the-list',
      comment: 'What a feature brings is reached by its operations and its keys',
      severity: 'error',
      from: { pathNot: [FEATURE_OF_LOWER_FOLDERS, '^src/features\\.ts$', '\\.test\\.ts$'] },
      to: { path: [FEATURE_OF_LOWER_FOLDERS, '^src/[a-z]+/feature\\.ts$'] },
    },
    {
      name: 'nothing-imports-main',
      comment: 'main.ts is the composition root; bin/ hands it to the command line',
      severity: 'error',
      from: { path: '^(?:src|native-bindings|config)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/main\\.ts$' },
    },
    {
      name: 'native-bindings-and-config-stand-alone',
      severity: 'error',
      from: { path: '^(?:native-bindings|config)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/' },
    },
    {
      name: 'no-circles',
      comment: 'An operation is given the services, and these name all operations, as types; nothing else goes round',
      severity: 'error',
      from: { pathNot: '^src/operations/dispatch/(?:operation|services)\\.ts$' },
      to: { circular: true },
    },
    {
      name: 'no-circles-of-code',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-packages-in-the-product',
      severity: 'error',
      from: { path: '^(?:src|native-bindings|config)/', pathNot: ['\\.test\\.ts$', '^src/console/app/'] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(?:dist|native-bindings/build)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json', '.node'],
    },
  },
};
