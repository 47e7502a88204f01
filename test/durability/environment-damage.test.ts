/**
 * Tests seeded damage to an open LMDB environment, between transactions that use its lists of free pages: every read
 * returns what was committed or an error, every transaction is there or has failed, and nothing ends the process.
 * `GANNET_ENVIRONMENT_DAMAGES` (default 30) environments, from `GANNET_DAMAGE_SEED`.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'lmdb';
import { expect, it } from 'vitest';
import '../../native-bindings/index.js';
import { openEnvironment, type LmdbEnvironment } from '../../src/platform/index.js';
import { damageFile } from '../support/damage.js';
import { SeededRandom } from '../support/random.js';

const ENVIRONMENTS = Number(process.env['GANNET_ENVIRONMENT_DAMAGES'] ?? 30);
const SEED = Number(process.env['GANNET_DAMAGE_SEED'] ?? 1);
const KEYS = 400;
const COMMITS_BEFORE = 12;
const DAMAGES_MAX = 3;
const COMMITS_AFTER = 6;
const CHANGES_MAX = 60;
/** Odd, so that each bit of a byte and each byte of a word is hit. */
const BITS_APART = 5;
const VALUE_BYTES = [10, 200, 1500, 9000];

/** An environment and what it must contain. */
class DamagedEnvironment {
  readonly problems: string[] = [];
  readonly outcomes = { right: 0, refused: 0, written: 0, failed: 0 };
  readonly #committed = new Map<number, string>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'gannet-environment-'));
  readonly #random: SeededRandom;
  readonly #environment: LmdbEnvironment;
  readonly #values: Database<string, number>;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#environment = openEnvironment(this.#folder, { kind: 'system' });
    this.#values = this.#environment.database<string, number>('values', { encoding: 'string' });
  }

  /** Gives some keys values of other lengths and removes some, so that pages become free and are used again. */
  async change(): Promise<void> {
    const changes = Array.from({ length: 1 + this.#random.below(CHANGES_MAX) }, () => this.#changeOf());
    try {
      await this.#environment.transaction(() => {
        for (const [key, value] of changes) {
          if (value === undefined) void this.#values.remove(key);
          else void this.#values.put(key, value);
        }
      });
    } catch {
      this.outcomes.failed += 1;
      return;
    }
    this.outcomes.written += 1;
    for (const [key, value] of changes) {
      if (value === undefined) this.#committed.delete(key);
      else this.#committed.set(key, value);
    }
  }

  damage(): string {
    return damageFile(join(this.#folder, 'data.mdb'), this.#random);
  }

  check(what: string): void {
    for (let key = 0; key < KEYS; key += 1) {
      let value: string | undefined;
      try {
        value = this.#values.get(key);
      } catch {
        this.outcomes.refused += 1;
        // A transaction that met damage cannot read anything more.
        this.#environment.root.resetReadTxn();
        continue;
      }
      if (value === this.#committed.get(key)) this.outcomes.right += 1;
      else
        this.problems.push(
          `${what}: ${key} is ${value?.slice(0, 20)} instead of ${this.#committed.get(key)?.slice(0, 20)}`,
        );
    }
  }

  async end(): Promise<void> {
    await this.#environment.close().catch(() => undefined);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #changeOf(): readonly [number, string | undefined] {
    const key = this.#random.below(KEYS);
    if (this.#random.below(4) === 0) return [key, undefined];
    return [key, `${this.#random.below(1_000_000)} `.repeat(1 + this.#random.pick(VALUE_BYTES) / 7)];
  }
}

it(`Reads return what was committed or an error, in ${ENVIRONMENTS} environments damaged while they are open`, async () => {
  const total = { right: 0, refused: 0, written: 0, failed: 0 };
  for (let index = 0; index < ENVIRONMENTS; index += 1) {
    const random = new SeededRandom(SEED * 100_000 + index);
    const environment = new DamagedEnvironment(SEED * 100_000 + index);
    for (let commit = 0; commit < COMMITS_BEFORE; commit += 1) await environment.change();
    environment.check('whole');
    expect(environment.problems).toEqual([]);
    expect(environment.outcomes).toMatchObject({ refused: 0, failed: 0 });
    for (let damages = 1 + random.below(DAMAGES_MAX); damages > 0; damages -= 1) {
      const what = `seed ${SEED}, environment ${index}, ${environment.damage()}`;
      for (let commit = 0; commit < COMMITS_AFTER; commit += 1) {
        await environment.change();
        environment.check(what);
      }
    }
    expect(environment.problems).toEqual([]);
    await environment.end();
    for (const outcome of ['right', 'refused', 'written', 'failed'] as const)
      total[outcome] += environment.outcomes[outcome];
  }
  console.log(total);
  // Otherwise nothing was damaged, or everything.
  expect(Math.min(total.refused, total.failed, total.right)).toBeGreaterThan(0);
}, 3_600_000);

/** Runs the action while one bit of the file is flipped. */
function withBitFlipped(file: number, bit: number, action: () => void): void {
  const byte = Buffer.alloc(1);
  const at = Math.floor(bit / 8);
  const flip = () => {
    readSync(file, byte, 0, 1, at);
    byte[0] = (byte[0] ?? 0) ^ (1 << (bit % 8));
    writeSync(file, byte, 0, 1, at);
  };
  flip();
  action();
  flip();
}

it('A read detects every flipped bit of a value, except the one in 65,536 that 16-bit checksums miss', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-environment-'));
  const environment = openEnvironment(folder, { kind: 'system' });
  const values = environment.database<string, number>('values', { encoding: 'string' });
  const value = 'a value that takes pages of its own '.repeat(220);
  await environment.transaction(() => values.put(1, value));
  const path = join(folder, 'data.mdb');
  const file = openSync(path, 'r+');
  const wrong: number[] = [];
  let refused = 0;
  for (let bit = 0; bit < statSync(path).size * 8; bit += BITS_APART) {
    withBitFlipped(file, bit, () => {
      try {
        if (values.get(1) !== value) wrong.push(bit);
      } catch {
        refused += 1;
        environment.root.resetReadTxn();
      }
    });
  }
  closeSync(file);
  expect(values.get(1)).toBe(value);
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
  expect(refused).toBeGreaterThan((value.length * 8) / BITS_APART);
  expect(wrong.length).toBeLessThanOrEqual(2);
});
