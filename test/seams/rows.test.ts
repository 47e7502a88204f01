/**
 * Tests that everything declared in a file of its own is in the list that the service finds it by. If it were
 * forgotten there, it would compile and pass its own test, but the service would not have it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FEATURES } from '../../src/features.js';
import { allOperations } from '../../src/main.js';
import { roleAllows } from '../../src/people/roles.js';
import { ENVIRONMENT_FORMATS, EventCatalogue, type EnvironmentFormat } from '../../src/platform/index.js';

const SRC = join(import.meta.dirname, '..', '..', 'src');
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('console/app'),
);
const sources = new Map(files.map((name) => [name, readFileSync(join(SRC, name), 'utf8')]));
const among = (pattern: RegExp) => [...sources].filter(([name]) => pattern.test(name));

it('Every feature is in src/features.ts', () => {
  const known = new Set(FEATURES.map(({ name }) => name));
  const missing = among(/^[a-z]+\/feature\.ts$/)
    .filter(([, text]) => !known.has(/^ {2}name: '([a-z-]+)',$/m.exec(text)?.[1] ?? ''))
    .map(([name]) => `src/${name}`);
  expect(missing, 'FEATURES of src/features.ts has no row for the feature of these files').toEqual([]);
});

it('Every operation is in the registry, or among the operations of its feature', async () => {
  const known = new Set((await allOperations()).map(({ name }) => name));
  const declared = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/defineOperation\(\{[^{}]*?\bname: '([a-z.-]+)'/g)].map(([, name = '']) => ({ file, name })),
  );
  expect(declared.length).toBeGreaterThan(100);
  const missing = declared.filter(({ name }) => !known.has(name)).map(({ file, name }) => `${name} (src/${file})`);
  expect(
    missing,
    'Nobody can call these operations. Put them into src/operations/registry.ts, or into the operations that the feature loads',
  ).toEqual([]);
});

/** What editors of an account may create, update and delete. */
const FOR_EDITORS = new Set([
  ...['analytics', 'facet', 'feed', 'list', 'list-group', 'media', 'media-store', 'model', 'resource'],
  ...['search-result', 'searchable-field', 'synonym', 'webhook'],
]);

/** What else they may do. */
const ALSO_FOR_EDITORS = new Set(['feed:sync', 'webhook:test']);
const USUAL_ACTIONS = /^(?:read|view|create|update|delete)$/;
const isAllowed = (permission: string) => roleAllows({ role: 'editor', isOfService: false }, permission);

it('Every permission is either for owners only or listed here as meant for editors as well', async () => {
  const named = (await allOperations()).flatMap(({ permission }) =>
    permission?.includes(':') === true ? permission : [],
  );
  const isListed = (permission: string): boolean => {
    const [area = '', action = ''] = permission.split(':');
    if (!isAllowed(`${area}:update`)) return true;
    return FOR_EDITORS.has(area) && (USUAL_ACTIONS.test(action) || ALSO_FOR_EDITORS.has(permission));
  };
  const undecided = named.filter((permission) => isAllowed(permission) && !isListed(permission));
  expect(
    [...new Set(undecided)],
    'Editors have these permissions. Put the area into OWNERS_AREAS of src/people/roles.ts and test/api/roles.test.ts, or into FOR_EDITORS here; an action of its own, into ALSO_FOR_EDITORS',
  ).toEqual([]);
});

/** Backups are of all accounts. */
const KEEPS_OF_NONE = new Set(['backup']);
const FORGETS = /^ +(?:async )?forget[:(]/m;

it('Every feature with a collection says what it forgets with an account or a list', () => {
  const keeping = new Set(
    among(/^[a-z]+\//)
      .filter(([name, text]) => !name.startsWith('catalog/') && /\.collection(?:<[^()]*>)?\(\s*'/.test(text))
      .map(([name]) => name.split('/')[0]),
  );
  const features = FEATURES.filter(({ name }) => keeping.has(name));
  expect(features.length).toBeGreaterThan(5);
  const missing = features.filter(
    ({ name }) =>
      !KEEPS_OF_NONE.has(name) &&
      !among(new RegExp(`^${name}/[a-z-]+-parts\\.ts$`)).some(([, text]) => FORGETS.test(text)),
  );
  expect(
    missing.map(({ name }) => name),
    'What these features keep stays when its account or list is deleted. Give what the feature opens a `forget` (OpenFeature), or put it into KEEPS_OF_NONE here if it keeps nothing of an account',
  ).toEqual([]);
});

it('Every event that is sent is in the catalogue', () => {
  const catalogue = new EventCatalogue(FEATURES.flatMap(({ events }) => (events === undefined ? [] : [events])));
  const fired = [...sources]
    .filter(([, text]) => /\bEventContent\b|\.emit\(|\bEventRecorder\b/.test(text))
    .flatMap(([file, text]) =>
      [...text.matchAll(/\btype: '([a-z-]+\.[a-z-]+)'/g)].map(([, type = '']) => ({ file, type })),
    );
  expect(fired.length).toBeGreaterThan(3);
  const missing = fired.filter(({ type }) => !catalogue.isFired(type)).map(({ file, type }) => `${type} (src/${file})`);
  expect(
    missing,
    'Nobody can subscribe to these events. Add a row to `events` of the feature (feature.ts), or to src/platform/events/event-types.ts',
  ).toEqual([]);
});

it('Every environment is among those of its feature', () => {
  const known = new Set(
    [
      ...Object.values(ENVIRONMENT_FORMATS),
      ...FEATURES.flatMap(({ environments = [] }) => environments.map(({ format }) => format)),
    ].map(({ kind }) => kind),
  );
  const declared = among(/^(?!platform\/environment-format)/).flatMap(([file, text]) =>
    [...text.matchAll(/: EnvironmentFormat = \{([^}]*)|= \{([^}]*)\} (?:as const )?satisfies EnvironmentFormat;/g)].map(
      ([, typed, held = '']) => ({ file, kind: /\bkind: '(\w+)'/.exec(typed ?? held)?.[1] ?? '' }),
    ),
  );
  expect(declared.length).toBeGreaterThan(1);
  const missing = declared.filter(({ kind }) => !known.has(kind)).map(({ file, kind }) => `${kind} (src/${file})`);
  expect(
    missing,
    'Backups and restores leave these out, and neither the start nor gannet doctor looks at them. Put them into `environments` of the feature (feature.ts)',
  ).toEqual([]);
});

it('Every feature that encrypts secrets declares where they are stored', () => {
  const known = new Set(FEATURES.filter(({ sealed = [] }) => sealed.length > 0).map(({ name }) => name));
  const featureOf = (folder: string) =>
    /^ {2}name: '([a-z-]+)',$/m.exec(sources.get(`${folder}/feature.ts`) ?? '')?.[1];
  const sealing = among(/\//).filter(([, text]) => /\bsecrets\.seal\(/.test(text));
  expect(sealing.length).toBeGreaterThan(3);
  const missing = sealing
    .filter(([name]) => !known.has(featureOf(name.split('/')[0] ?? '') ?? ''))
    .map(([name]) => `src/${name}`);
  expect(
    missing,
    'gannet doctor and a start without the key of the secrets do not count these. Give the feature (feature.ts) a row of `sealed`',
  ).toEqual([]);
});

it('Every format of an environment has an upgrade from each format before it', () => {
  const formats: readonly EnvironmentFormat[] = [
    ...Object.values(ENVIRONMENT_FORMATS),
    ...FEATURES.flatMap(({ environments = [] }) => environments.map(({ format }) => format)),
  ];
  const missing = formats.flatMap(({ kind, number, upgrades = {} }) =>
    Array.from({ length: number - 1 }, (_, step) => step + 2)
      .filter((each) => upgrades[each] === undefined)
      .map((each) => `${kind}: ${each}`),
  );
  expect(
    missing,
    'Data directories of the release before would be refused. Give the format a row of `upgrades` for these numbers; one that does nothing where older rows are read as they are',
  ).toEqual([]);
});
