/**
 * Tests a sync that fails once: from then on, the system takes the unwritten data for written, and no later sync
 * writes it. Whatever is committed afterwards must be on disk all the same.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironment } from '../../src/platform/index.js';
import { canMountFaulty, FaultyFileSystem } from '../support/faulty-file-system.js';
import { SeededRandom } from '../support/random.js';
import { describeWhere } from '../support/skip.js';

const ROUNDS = Number(process.env['GANNET_FAILED_SYNCS'] ?? 8);
const COMMITS = 40;
const KEYS = 30;
const VALUE_BYTES_MAX = 9000;

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'gannet-failed-sync-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const mount = () => FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'), join(root, 'lost'));

/** Commits until the power is cut, and has some syncs fail. Returns how many failed. */
async function commitUntilCut(random: SeededRandom, seed: number, expected: Map<number, string>): Promise<number> {
  const disk = await mount();
  const environment = openEnvironment(join(root, 'on', 'environment'), { kind: 'system' });
  const database = environment.database<string, number>('values');
  let failures = 0;
  for (let commit = 0; commit < COMMITS; ++commit) {
    const isFailing = random.below(5) === 0;
    if (isFailing) await disk.fail(['sync'], 'EIO', '/data.mdb');
    const changes = new Map<number, string>();
    for (let count = 1 + random.below(4); count > 0; --count)
      changes.set(random.below(KEYS), `${seed}/${commit} `.repeat(1 + random.below(VALUE_BYTES_MAX / 8)));
    const done = environment.transaction(() => {
      for (const [key, value] of changes) database.putSync(key, value);
    });
    if (isFailing) {
      await expect(done).rejects.toMatchObject({ code: 'storage-failed' });
      failures += 1;
      await disk.heal();
    } else {
      await done;
      for (const [key, value] of changes) expected.set(key, value);
    }
    for (const key of changes.keys()) expect(database.get(key)).toBe(expected.get(key));
  }
  await disk.cutPower({ seed, keptTenths: 0 }, () => undefined);
  await environment.close();
  await disk.unmount();
  return failures;
}

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a commit after a failed sync',
  () => {
    it(`is on disk after ${ROUNDS} power cuts, and nothing of the failed ones is`, async () => {
      const random = new SeededRandom(1);
      const expected = new Map<number, string>();
      let failures = 0;
      for (let round = 1; round <= ROUNDS; ++round) {
        failures += await commitUntilCut(random, round, expected);
        const environment = openEnvironment(join(root, 'under', 'environment'), { kind: 'system' });
        const database = environment.database<string, number>('values');
        const found = new Map(Array.from(database.getRange(), ({ key, value }) => [key, value]));
        await environment.close();
        expect(found, `round ${round}`).toEqual(new Map([...expected].sort(([a], [b]) => a - b)));
      }
      expect(failures).toBeGreaterThan(ROUNDS);
    });
  },
);
