/**
 * Tests work that versions of records leave behind in their list's environment (`src/platform/work`), in a process
 * that is killed at random moments: in the end every record has what its newest version asked for, and a kill costs
 * one batch at most.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SeededRandom } from '../support/random.js';

const KILLS = Number(process.env['GANNET_RECORD_WORK_KILLS'] ?? 6);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
const [RECORDS, ROUNDS] = [400, 40];
const BATCH_MAX = 8;
const LINES_BEFORE_KILL_MAX = 60;
const worker = fileURLToPath(new URL('../support/record-work.worker.mjs', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-record-work-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the worker, and kills it after this number of lines. Resolves with its lines. */
function run(linesMax: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [worker, folder, String(RECORDS), String(ROUNDS)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.split('\n').length > linesMax) child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') resolve(said.split('\n').filter((line) => line !== ''));
      else reject(new Error(`the worker ended with ${signal ?? `status ${code}`}`));
    });
  });
}

it(`Work is done for the newest version of every record, across ${KILLS} kills`, async () => {
  const random = new SeededRandom(SEED);
  const asked = new Map<string, number>();
  const note = (lines: readonly string[]) => {
    const versions = lines.filter((line) => line.startsWith('asked ')).flatMap((line) => line.split(' ').slice(1));
    for (const version of versions) asked.set(version, (asked.get(version) ?? 0) + 1);
  };
  for (let kill = 0; kill < KILLS; kill += 1) note(await run(1 + random.below(LINES_BEFORE_KILL_MAX)));
  const last = await run(Infinity);
  note(last);
  const outcome = JSON.parse(last.at(-1)?.replace('done ', '') ?? '') as unknown;
  expect(outcome).toEqual({ figures: { pending: 0, failed: 0, reasons: {} }, left: 0, wrong: [] });
  const repeated = [...asked.values()].reduce((sum, times) => sum + times - 1, 0);
  process.stdout.write(`record work kill test: ${asked.size} versions, ${KILLS} kills, ${repeated} asked for again\n`);
  expect(repeated).toBeLessThanOrEqual(KILLS * BATCH_MAX);
});
