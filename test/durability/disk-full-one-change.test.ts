/**
 * Tests a request that changes fields and rules of a list at once, on a disk with room for only one of them: all of
 * it applies, or nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const FULL = { status: 507, body: { code: 'storage-full' } };
const CHANGES_MAX = 40;
/** Rules of about 300 KB. */
const RULES = 2000;
const TERM_LETTERS = 60;
/** Fields of about 20 KB: more than a list's store has room for in its file. */
const FIELDS = 200;

let dataDir: string;
let service: TestService;
let disk: SmallFileSystem | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-one-change-'));
  service = new TestService(dataDir, { dataDir, env: { GANNET_LOG_LEVEL: 'fatal' } });
});
afterEach(async () => {
  await service.stop('SIGKILL');
  disk?.unmount();
  disk = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts a service whose disk under this folder is full. */
async function startWithFull(folder: string): Promise<void> {
  disk = SmallFileSystem.mount(join(dataDir, folder));
  await service.start();
  const { client } = service;
  const made = await client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] });
  expect(made.status, made.text).toBe(201);
  expect((await client.bulk('default', 'films', [{ name: 'one', title: 'red' }])).status).toBe(200);
  disk.shrink();
}

interface Told {
  readonly facets: readonly { readonly name: string }[];
  readonly synonym_rules: readonly { readonly terms: readonly string[] }[];
}

/** Returns the names of the facets, and the first term of the rules. */
async function inForce() {
  const { facets, synonym_rules: rules } = (await service.client.get('/list/default/films')).body as Told;
  return { facets: facets.map(({ name }) => name), rules: rules[0]?.terms[0] };
}

/** Makes changes until one is refused; each accepted one applies entirely, and the refused one not at all. */
async function refusedAsAWhole(
  change: (number: number) => Promise<Answer>,
  taken: (number: number) => object,
): Promise<void> {
  let before: object = await inForce();
  for (let number = 0; number < CHANGES_MAX; number += 1) {
    const answer = await change(number);
    if (answer.status >= 300) {
      expect(answer, answer.text).toMatchObject(FULL);
      expect(await inForce()).toEqual(before);
      // The disk agrees, and nothing of the change appears later.
      disk?.grow();
      await service.stop('SIGKILL');
      await service.start();
      expect(await inForce()).toEqual(before);
      return;
    }
    before = taken(number);
    expect(await inForce()).toEqual(before);
  }
  throw new Error('The disk was never full.');
}

const rulesOf = (number: number, count: number) =>
  Array.from({ length: count }, (_, rule) => ({
    kind: 'equivalent',
    terms: [`term${number}`, `${rule}${'x'.repeat(TERM_LETTERS)}`],
  }));

const namesOf = (number: number) =>
  Array.from({ length: FIELDS }, (_, field) => `facet${number}-${field}-${'x'.repeat(TERM_LETTERS)}`);

const changeBoth = (rules: number) => (number: number) =>
  service.client.put('/list/default/films', {
    facets: namesOf(number).map((name) => ({ name, type: 'string' })),
    synonym_rules: rulesOf(number, rules),
  });
const both = (number: number) => ({ facets: namesOf(number), rules: `term${number}` });

describeWhere(canMount('fields and rules on a full disk'), 'mounting takes root')(
  'fields and rules on a full disk',
  () => {
    it('are unchanged if the catalogue has no room for the rules', async () => {
      await startWithFull('system');
      await refusedAsAWhole(changeBoth(RULES), both);
    });

    it('are unchanged if the list has no room for the fields', async () => {
      await startWithFull('lists');
      await refusedAsAWhole(changeBoth(1), both);
    });

    it('are unchanged if the catalogue has no room for the time at which a field was added', async () => {
      await startWithFull('system');
      let facets: string[] = [];
      const add = async (number: number) => {
        const name = `facet${number}`;
        const answer = await service.client.post('/facet/default/films', { name, type: 'string' });
        if (answer.status < 300) facets = [...facets, name];
        return answer;
      };
      await refusedAsAWhole(add, () => ({ facets, rules: undefined }));
    });
  },
);
