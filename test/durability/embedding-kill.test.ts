/**
 * Kills a service at random moments while a model embeds its records: every record ends with the vector of its newest
 * text, and at most a batch of texts a kill is embedded again. `GANNET_EMBEDDING_KILLS` kills (default 3), from
 * `GANNET_KILL_SEED`.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { hashedVector } from '../support/scripted-models.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';

const KILLS = Number(process.env['GANNET_EMBEDDING_KILLS'] ?? 3);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
const RECORDS = 400;
/** Records whose text changes after each kill. */
const CHANGES = 40;
const BATCH_TEXTS = 8;
/** Records whose vector is compared at the end. */
const CHECKED = 20;
/** Enough that no two texts have nearly the same vector. */
const DIMENSIONS = 32;
const ASKED_BEFORE_KILL_MAX = 20;
/** Far more than one kill takes on any machine. */
const KILL_MS_MAX = 240_000;

interface Meaning {
  readonly state: string;
  readonly embedded: number;
  readonly pending: number;
  readonly failed: number;
}

let service: TestService;
let server: ScriptedServer;
/** How often each text was embedded. */
let embedded: Map<string, number>;
let calls = 0;
let held: Held | undefined;

/** While there is one, the model answers nothing. */
interface Held {
  readonly opened: Promise<void>;
  readonly open: () => void;
  /** True once a call waits. */
  isReached: boolean;
}

beforeEach(async () => {
  embedded = new Map();
  held = undefined;
  server = await ScriptedServer.start();
  server.script = (asked, response) => {
    calls += 1;
    const { input } = JSON.parse(asked.body) as { input: string[] };
    for (const text of input) embedded.set(text, (embedded.get(text) ?? 0) + 1);
    if (held !== undefined) held.isReached = true;
    response.setHeader('content-type', 'application/json');
    const data = input.map((text, index) => ({ index, embedding: Array.from(hashedVector(text, DIMENSIONS)) }));
    void Promise.resolve(held?.opened).then(() => response.end(JSON.stringify({ data })));
  };
  service = await startTestService({
    env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_MODELS_BATCH_TEXTS: String(BATCH_TEXTS) },
  });
});
afterEach(async () => {
  await service.close();
  await server.close();
});

const textOf = (record: number, version: number) => `text ${record} in version ${version}`;
const meaning = async () =>
  ((await service.client.get('/list/default/texts')).body as { readonly meaning: Meaning }).meaning;

/**
 * Writes while the model is asked for a batch, or for none. Records that are written between being taken for a batch and
 * being read for it are embedded with it as they are now, and once more.
 */
async function besideACall(write: () => Promise<unknown>): Promise<void> {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const now: Held = { opened, open, isReached: false };
  held = now;
  await eventually(
    async () => now.isReached || (await meaning()).pending === 0,
    (isQuiet) => isQuiet,
  );
  await write();
  held = undefined;
  now.open();
}

/** Returns the cosine of a record for a query: 1 if its vector is that of this text. */
async function cosineOf(record: number, query: string): Promise<number | undefined> {
  const { body } = await service.client.post('/search/default/texts/1', { query, size: RECORDS, explain: true });
  const { results } = body as {
    readonly results: readonly {
      readonly name: string;
      readonly explain: { readonly sources: readonly { readonly kind: string; readonly cosine?: number }[] };
    }[];
  };
  const found = results.find(({ name }) => name === `r${record}`);
  return found?.explain.sources.find(({ kind }) => kind === 'meaning')?.cosine;
}

it(
  `Every record's newest text is embedded, across ${KILLS} kills`,
  async () => {
    const model = { name: 'topics', provider: 'openai', url: server.url('/v1'), served_name: 'topics' };
    expect((await service.control().post('/model/default', model)).status).toBe(201);
    const list = { name: 'texts', model: 'topics', searchable_fields: [{ name: 'title' }] };
    expect((await service.client.post('/list/default', list)).status).toBe(201);
    embedded.clear();
    const random = new SeededRandom(SEED);
    const versions = new Map(Array.from({ length: RECORDS }, (_, record) => [record, 0]));
    const write = (records: Iterable<number>) =>
      service.client.bulk(
        'default',
        'texts',
        Array.from(records, (record) => ({ name: `r${record}`, title: textOf(record, versions.get(record) ?? 0) })),
      );
    await write(versions.keys());
    for (let kill = 0; kill < KILLS; kill += 1) {
      const until = calls + random.below(ASKED_BEFORE_KILL_MAX);
      await eventually(
        async () => (calls >= until ? 0 : (await meaning()).pending),
        (pending) => pending === 0,
      );
      await service.stop('SIGKILL');
      await service.start();
      const changed = Array.from({ length: CHANGES }, () => random.below(RECORDS));
      for (const record of changed) versions.set(record, (versions.get(record) ?? 0) + 1);
      await besideACall(() => write(new Set(changed)));
    }
    const settled = await eventually(meaning, ({ state, pending }) => state === 'ready' && pending === 0);
    expect(settled).toMatchObject({ embedded: RECORDS, failed: 0 });
    // Each newest text was embedded, and finds its record.
    for (const [record, version] of versions) expect(embedded.has(textOf(record, version))).toBe(true);
    const repeated = [...embedded.values()].reduce((sum, times) => sum + times - 1, 0);
    process.stdout.write(`embedding kill test: ${embedded.size} texts, ${KILLS} kills, ${repeated} embedded again\n`);
    expect(repeated).toBeLessThanOrEqual(KILLS * BATCH_TEXTS);
    for (let record = 0; record < RECORDS; record += RECORDS / CHECKED) {
      expect(await cosineOf(record, textOf(record, versions.get(record) ?? 0))).toBeCloseTo(1, 2);
    }
  },
  KILL_MS_MAX * (KILLS + 1),
);
