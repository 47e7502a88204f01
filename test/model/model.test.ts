/**
 * Compares the service with a reference made from the documentation alone: random sequences of writes, searches,
 * changes of fields and rules, copies, restarts and kills must give the same answers. For more sequences, or to
 * repeat a failure: `GANNET_MODEL_SEQUENCES=5000 GANNET_MODEL_SEED=7 npx vitest run test/model`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import type { WebhookReceiver } from '../support/webhook-receiver.js';
import { Difference } from './difference.js';
import { madeSequence } from './made-sequences.js';
import type { Sequence } from './operations.js';
import { replay } from './replay.js';
import { shrunk } from './shrinking.js';
import { startReceiver } from './told-events.js';
import { TextModel } from './text-model.js';

const SEQUENCES = Number(process.env['GANNET_MODEL_SEQUENCES'] ?? 6);
/** Sequences from this seed on include a restart, a kill and two with a webhook. */
const SEED = Number(process.env['GANNET_MODEL_SEED'] ?? 5);
/** The step from one seed to the next: with 10, from a multiple of it, each sequence has a kill. */
const STEP = Number(process.env['GANNET_MODEL_STEP'] ?? 1);
const OPERATIONS_MAX = 120;
const FAILURES_MAX = Number(process.env['GANNET_MODEL_FAILURES'] ?? 1);
const TIMEOUT_MS = 24 * 3_600_000;

let service: TestService;
let textModel: TextModel;
let receiver: WebhookReceiver;
const mediaFolder = mkdtempSync(join(tmpdir(), 'gannet-model-media-'));
beforeAll(async () => {
  textModel = await TextModel.start();
  receiver = await startReceiver();
  service = await startTestService({
    env: {
      GANNET_WEBHOOKS_RETRY_SECONDS: '1',
      GANNET_WEBHOOKS_JITTER_PERCENT: '0',
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      GANNET_INGEST_MERGE_FAN_IN: '2',
      GANNET_SEARCH_RATE_PER_MINUTE: '1000000000',
      GANNET_LOG_LEVEL: 'error',
      GANNET_MEDIA_FOLDERS: mediaFolder,
    },
  });
  await textModel.addTo(service);
});
afterAll(async () => {
  await service.close();
  await textModel.close();
  await receiver.close();
  rmSync(mediaFolder, { recursive: true, force: true });
});

let runs = 0;
async function differenceOf(sequence: Sequence): Promise<Difference | undefined> {
  runs += 1;
  try {
    await replay({ service, textModel, receiver, mediaFolder }, `m${runs}`, sequence);
    return undefined;
  } catch (error) {
    if (error instanceof Difference) return error;
    throw error;
  }
}

async function report(seed: number, sequence: Sequence, found: Difference): Promise<string> {
  const shortest = await shrunk(sequence, async (candidate) => (await differenceOf(candidate))?.what === found.what);
  const last = await differenceOf(shortest);
  return `seed ${seed}: ${(last ?? found).message}\n${JSON.stringify(shortest)}`;
}

describe('the service and the reference', () => {
  it(`give the same answers over ${SEQUENCES} sequences from seed ${SEED} on`, { timeout: TIMEOUT_MS }, async () => {
    const failures: string[] = [];
    const kinds = new Set<string>();
    for (let at = 0; at < SEQUENCES && failures.length < FAILURES_MAX; at += 1) {
      const seed = SEED + at * STEP;
      const sequence = madeSequence(seed, 30 + new SeededRandom(seed).below(OPERATIONS_MAX));
      const found = await differenceOf(sequence);
      // Only one difference of each kind is shortened: others would be the same as long as it exists.
      if (found !== undefined && !kinds.has(found.what)) {
        kinds.add(found.what);
        console.log(`seed ${seed}, to be shortened: ${found.message}`);
        failures.push(await report(seed, sequence, found));
        console.log(failures.at(-1));
      }
    }
    expect(failures.join('\n\n')).toBe('');
  });
});
