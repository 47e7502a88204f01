/**
 * Tests a service that is killed right after an import of vectors: records without a graph are found, also in a
 * backup, and get a graph.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { hashedVector } from '../support/scripted-models.js';
import { startTestService, type TestService } from '../support/service.js';

/** Several times as many as are left without a graph. */
const RECORDS = 12_000;
const DIMENSIONS = 16;
/** So that few merges are due for other reasons. */
const FAN_IN = '50';
/** Offsets in the header, as in docs/formats.md. */
const LEVELS_AT = 20;
const NODES_AT = 28;
const NODES_WITHOUT_GRAPH_MAX = 4000;

const folder = mkdtempSync(join(tmpdir(), 'gannet-graphs-'));
const running: TestService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function start(dataDir: string): Promise<TestService> {
  const service = await startTestService({ dataDir, env: { GANNET_INGEST_MERGE_FAN_IN: FAN_IN } });
  running.push(service);
  return service;
}

const vectorOf = (n: number) => Array.from(hashedVector(`vector ${n}`, DIMENSIONS));

async function expectFound({ client }: TestService): Promise<void> {
  for (const n of [0, 4321, RECORDS - 1]) {
    const { status, text, body } = await client.post('/search/default/vectors/1', { vector: vectorOf(n), size: 1 });
    expect(status, text).toBe(200);
    expect(body).toMatchObject({ results: [{ name: `r${n}` }] });
  }
}

/** Returns for each file of vectors that is large enough for a graph whether it has one. */
function graphs(dataDir: string): boolean[] {
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.gvs'));
  return files.flatMap((path) => {
    const header = readFileSync(join(dataDir, path)).subarray(0, NODES_AT + 4);
    return header.readUInt32LE(NODES_AT) > NODES_WITHOUT_GRAPH_MAX ? [header.readUInt32LE(LEVELS_AT) > 0] : [];
  });
}

const haveGraphs = (dataDir: string) =>
  eventually(
    () =>
      Promise.resolve()
        .then(() => graphs(dataDir))
        .catch(() => []),
    (all) => all.length > 0 && all.every(Boolean),
  );

it('After a kill, vectors without a graph are found, and their graphs are built', async () => {
  const dataDir = join(folder, 'data');
  const first = await start(dataDir);
  const made = await first.client.post('/list/default', {
    name: 'vectors',
    model: 'own',
    searchable_fields: [{ name: 'title', weight: 1 }],
  });
  expect(made.status, made.text).toBe(201);
  const records = Array.from({ length: RECORDS }, (_, n) => ({
    name: `r${n}`,
    fields: { title: `r${n}` },
    vector: vectorOf(n),
  }));
  const imported = await first.client.bulk('default', 'vectors', records);
  expect(imported.body, imported.text).toMatchObject({ created: RECORDS });
  await first.stop('SIGKILL');

  const second = await start(dataDir);
  const { status, output, notes } = await gannet(dataDir, 'backup', join(folder, 'backups'), '--json');
  expect(status, notes).toBe(0);
  await expectFound(second);
  await haveGraphs(dataDir);
  await expectFound(second);
  await second.stop();

  const restored = join(folder, 'restored');
  expect((await gannet(restored, 'restore', (JSON.parse(output) as { path: string }).path)).status).toBe(0);
  const third = await start(restored);
  await expectFound(third);
  await haveGraphs(restored);
  await expectFound(third);
});
