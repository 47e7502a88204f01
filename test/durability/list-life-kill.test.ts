/**
 * Kills the service (SIGKILL) while lists are created, copied, deleted and adopted: what was acknowledged holds, and
 * nothing else is left: no folder that the catalogue does not know, and no list without its folder.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openEnvironment } from '../../src/platform/index.js';
import { gannet } from '../support/cli.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';

const KILLS = Number(process.env['GANNET_LIST_LIFE_KILLS'] ?? 5);
const ADOPTION_KILLS = Number(process.env['GANNET_LIST_LIFE_KILLS'] ?? 4);
const SEED = 20_261_122;
/** The most answers between a start and the kill, and the longest time from the last of them to the kill. */
const ANSWERS_MAX = 12;
const DELAY_MS_MAX = 40;
const RECORDS = 5;
const ADOPTED = 6;

/** Many starts, on a machine that may be busy. */
const TEST_MS_MAX = 600_000;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-life-kill-'));
  folders.push(folder);
  return folder;
}

interface Expected {
  /** Lists whose creation was acknowledged. */
  readonly there: Set<string>;
  readonly gone: Set<string>;
  /** The list of the unanswered request when the process died: it may be done or not. */
  unsure: string | undefined;
}

/** Creates, fills, copies and deletes lists until the service dies; calls `answered` after each answer. */
async function live({ client }: TestService, expected: Expected, first: number, answered: () => void): Promise<void> {
  const call = async (name: string, send: () => ReturnType<typeof client.get>, wanted: number) => {
    expected.unsure = name;
    const { status, text } = await send();
    expect(status, text).toBe(wanted);
    expected.unsure = undefined;
    answered();
  };
  const added = (name: string) => expected.there.add(name);
  for (let number = first; ; number++) {
    const [name, copy] = [`list-${number}`, `copy-${number}`];
    await call(name, () => client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] }), 201);
    const records = Array.from({ length: RECORDS }, (_, index) => ({ name: `r${index}`, title: 'word' }));
    await call(name, () => client.bulk('default', name, records), 200);
    added(name);
    await call(copy, () => client.post(`/list/default/${name}/clone`, { name: copy }), 201);
    added(copy);
    if (number % 2 === 0) continue;
    for (const doomed of [name, copy]) {
      await call(doomed, () => client.delete(`/list/default/${doomed}`), 204);
      expected.there.delete(doomed);
      expected.gone.add(doomed);
    }
  }
}

async function killedWhileLiving(service: TestService, expected: Expected, round: number, random: SeededRandom) {
  let left = 1 + random.below(ANSWERS_MAX);
  const delayMs = random.below(DELAY_MS_MAX);
  const killed = new Promise<void>((resolve) => {
    const died = live(service, expected, round * 1000, () => {
      left -= 1;
      if (left === 0) setTimeout(() => void service.stop('SIGKILL').then(() => resolve()), delayMs);
    });
    // It ends with a broken connection; a wrong answer fails the test.
    died.catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    });
  });
  await killed;
}

async function compare({ client, dataDir }: TestService, { there, gone, unsure }: Expected): Promise<void> {
  const answer = (await client.get('/list/default')).body as {
    readonly lists: readonly { readonly name: string; readonly record_count: number }[];
    readonly unavailable?: unknown;
  };
  expect(answer.unavailable).toBeUndefined();
  const names = new Set(answer.lists.map(({ name }) => name));
  const certain = (name: string) => name !== unsure;
  expect([...there].filter(certain).filter((name) => !names.has(name))).toEqual([]);
  expect([...gone].filter(certain).filter((name) => names.has(name))).toEqual([]);
  expect(answer.lists.filter(({ name }) => certain(name) && there.has(name)).map((list) => list.record_count)).toEqual(
    [...names].filter((name) => certain(name) && there.has(name)).map(() => RECORDS),
  );
  // Every folder belongs to a list, and none was moved aside: every interrupted creation was known by name.
  const entries = readdirSync(join(dataDir, 'lists'));
  expect(entries.filter((name) => name.startsWith('.'))).toEqual([]);
  expect(entries).toHaveLength(names.size);
}

describe(`lists, over ${KILLS} kills while they are created, copied and deleted (seed ${SEED})`, () => {
  it(
    'exist as was acknowledged, and no other folder is left',
    async () => {
      const random = new SeededRandom(SEED);
      const service = await startTestService({ dataDir: newFolder() });
      const expected: Expected = { there: new Set(), gone: new Set(), unsure: undefined };
      try {
        for (let round = 1; round <= KILLS; round++) {
          await killedWhileLiving(service, expected, round, random);
          await service.start();
          await compare(service, expected);
          // Whatever became of this list, nothing was acknowledged.
          if (expected.unsure !== undefined) expected.there.delete(expected.unsure);
          expected.unsure = undefined;
        }
        expect(expected.there.size + expected.gone.size).toBeGreaterThan(KILLS);
      } finally {
        await service.close();
      }
    },
    TEST_MS_MAX,
  );
});

describe(`adoption of lists, over ${ADOPTION_KILLS} kills (seed ${SEED})`, () => {
  it(
    'is completed or starts again',
    async () => {
      const random = new SeededRandom(SEED);
      const dataDir = newFolder();
      const service = await startTestService({ dataDir });
      try {
        for (let number = 0; number < ADOPTED; number++) {
          const name = `list-${number}`;
          await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] });
          await service.client.bulk('default', name, [{ name: 'a', title: 'word' }]);
        }
        await service.stop();
        const whole = (await idsOf(dataDir)).sort();
        for (let kill = 0; kill < ADOPTION_KILLS; kill++) {
          // Half of them in the folder where a start with an empty catalogue would have moved them.
          rmSync(join(dataDir, 'system'), { recursive: true, force: true });
          for (const id of whole.slice(0, ADOPTED / 2)) setAside(dataDir, id);
          await killedWhileAdopting(dataDir, random.below(60));
          const adopted = await gannet(dataDir, 'doctor', '--adopt-lists');
          expect(adopted.status, adopted.notes + adopted.output).toBe(0);
          expect((await idsOf(dataDir)).sort()).toEqual(whole);
          expect(readdirSync(join(dataDir, 'lists', '.unknown'))).toEqual([]);
        }
        await service.start();
        for (let number = 0; number < ADOPTED; number++) {
          const { body } = await service.client.get(`/search/default/list-${number}/1`, { query: 'word' });
          expect(body).toMatchObject({ total_count: 1 });
        }
      } finally {
        await service.close();
      }
    },
    TEST_MS_MAX,
  );
});

function setAside(dataDir: string, id: string): void {
  const folder = join(dataDir, 'lists', '.unknown');
  mkdirSync(folder, { recursive: true });
  renameSync(join(dataDir, 'lists', id), join(folder, id));
}

/** Kills the adoption this long after it has begun to write the catalogue, or just before. */
function killedWhileAdopting(dataDir: string, delayMs: number): Promise<void> {
  const child = spawn(process.execPath, ['bin/gannet.js', 'doctor', '--adopt-lists'], {
    env: { ...process.env, GANNET_DATA_DIR: dataDir },
    stdio: 'ignore',
  });
  const watch = setInterval(() => {
    if (!existsSync(join(dataDir, 'system'))) return;
    clearInterval(watch);
    setTimeout(() => child.kill('SIGKILL'), delayMs);
  }, 1);
  return new Promise((resolve) => {
    child.once('exit', () => {
      clearInterval(watch);
      resolve();
    });
  });
}

async function idsOf(dataDir: string): Promise<string[]> {
  const environment = openEnvironment(join(dataDir, 'system'), { kind: 'system', readOnly: true });
  try {
    const lists = environment.database<{ readonly id: string }, string>('lists');
    return Array.from(lists.getRange(), ({ value }) => value.id);
  } finally {
    await environment.close();
  }
}
