/** The thread that reads records for abbreviations, as compiled into dist. */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listFixtures, type ListFixtures } from '../../test/support/lists.js';
import type { FieldDefinition } from '../catalog/index.js';
import type { ListIndex } from '../index/index.js';
import { loadConfig } from '../platform/config.js';
import type { Host } from '../platform/hosts/index.js';
import { createMetrics } from '../platform/metrics.js';
import type { AbbreviationProtocol } from './abbreviation-protocol.js';
import { NEVER } from '../platform/index.js';
import { CandidateFinder } from './candidate-finder.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
};
/** More records than two steps read. */
const RECORDS = Array.from({ length: 2500 }, (_, number) => ({
  name: `r${number}`,
  title: number % 100 === 0 ? 'the World Health Organization (WHO)' : 'nothing to see',
}));

let fixtures: ListFixtures;
let list: ListIndex;
let finder: CandidateFinder;
let metrics: ReturnType<typeof createMetrics>;
const hostOf = (of: CandidateFinder) =>
  Object.getOwnPropertyDescriptor(of, 'host')?.value as Host<AbbreviationProtocol>;

beforeAll(async () => {
  fixtures = await listFixtures();
  list = await fixtures.add('papers', DEFINITION, RECORDS);
});
afterAll(() => fixtures.close());
beforeEach(() => {
  metrics = createMetrics();
  finder = new CandidateFinder({ config: loadConfig({ argv: [], env: {} }), log: pino({ level: 'silent' }), metrics });
});
afterEach(() => finder.close());

describe('CandidateFinder', () => {
  it('has no thread until the first call, and reads every record in steps', async () => {
    expect(hostOf(finder).isRunning).toBe(false);
    const [found, ...others] = await finder.find(list, NEVER);
    expect(found).toMatchObject({ abbreviation: 'WHO', record_count: 25 });
    expect(others).toEqual([]);
    expect(hostOf(finder).isRunning).toBe(true);
  });

  it('shares a scan between callers, ends it when all have left, and starts again for the next', async () => {
    const callers = [new AbortController(), new AbortController()];
    const asked = callers.map(({ signal }) => finder.find(list, signal));
    callers[0]?.abort(new Error('left'));
    expect(hostOf(finder).pending).toBe(1);
    callers[1]?.abort(new Error('left, too'));
    for (const each of asked) await expect(each).rejects.toThrow(/left/);
    // The scan was stopped after the step that the thread was doing.
    expect(hostOf(finder).pending).toBe(0);
    expect(await finder.find(list, NEVER)).toHaveLength(1);
  });

  it('fails if its thread dies, and answers the next call', async () => {
    // The killed thread may still be reading.
    const lease = list.lease();
    const asked = finder.find(list, NEVER);
    hostOf(finder).kill();
    await expect(asked).rejects.toMatchObject({ code: 'internal-error' });
    expect(await finder.find(list, NEVER)).toHaveLength(1);
    expect(await metrics.text()).toContain('gannet_worker_deaths_total{pool="synonyms"} 1');
    lease.release();
  });

  it('fails with `deadline` if a step takes too long', async () => {
    const config = loadConfig({ argv: [], env: { GANNET_SEARCH_DEADLINE_MS: '10' } });
    const hurried = new CandidateFinder({ config, log: pino({ level: 'silent' }), metrics });
    // Starting the thread alone takes longer.
    await expect(hurried.find(list, NEVER)).rejects.toMatchObject({ code: 'deadline' });
    await hurried.close();
  });
});
