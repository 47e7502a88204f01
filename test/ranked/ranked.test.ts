/**
 * The best hits, which are found by passing over most records, are those of a search that looks at all: for random lists
 * of thousands of records and random searches with any options. For more rounds, or to repeat one:
 * `GANNET_RANKED_ROUNDS=500 GANNET_RANKED_SEED=7 npx vitest run test/ranked`. `GANNET_RANKED_RECORDS=200000` makes the
 * lists larger.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ListsWithModels } from '../support/lists-with-models.js';
import { SeededRandom } from '../support/random.js';
import { ScriptedModels } from '../support/scripted-models.js';
import { runRound } from './campaign.js';
import { compared } from './checks.js';
import { KeptAnswers } from './kept-answers.js';

const ROUNDS = Number(process.env['GANNET_RANKED_ROUNDS'] ?? 4);
const SEED = Number(process.env['GANNET_RANKED_SEED'] ?? 1);
const SEARCHES = Number(process.env['GANNET_RANKED_SEARCHES'] ?? 12);
const RECORDS = Number(process.env['GANNET_RANKED_RECORDS'] ?? 0);
const FAILURES_MAX = Number(process.env['GANNET_RANKED_FAILURES'] ?? 1);
const TIMEOUT_MS = 24 * 3_600_000;

let lists: ListsWithModels;
beforeAll(() => {
  lists = new ListsWithModels(new ScriptedModels(), { GANNET_INGEST_MERGE_FAN_IN: '8' });
});
afterAll(async () => {
  await lists.remove();
});

it(
  'answers with the best hits as a search of all records would',
  async () => {
    const failures: string[] = [];
    const answers = new KeptAnswers(process.env['GANNET_RANKED_ANSWERS']);
    for (let round = 0; round < ROUNDS; ++round) {
      const seed = SEED + round;
      const random = new SeededRandom(seed);
      const records = RECORDS > 0 ? RECORDS : random.pick([30, 600, 6000, 20_000]);
      const sizes = [
        { records, segments: 1 + random.below(6) },
        { records: Math.ceil(records / 10), segments: 1 + random.below(3) },
      ];
      try {
        await runRound(lists, { seed, searches: SEARCHES, sizes, answers });
      } catch (error) {
        failures.push(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
        process.stdout.write(`${failures.at(-1)}\n`);
        if (!(error instanceof Error) || error.cause === undefined || process.env['GANNET_RANKED_STACK'] !== undefined)
          throw error;
      }
      if (failures.length >= FAILURES_MAX) break;
    }
    answers.save();
    process.stdout.write(`${JSON.stringify(compared)}\n`);
    expect(failures).toEqual([]);
  },
  TIMEOUT_MS,
);
