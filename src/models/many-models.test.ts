/** Models of an account with thousands of lists. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openedModels } from '../../test/support/opened-models.js';
import type { GroupRecord, ListRecord } from '../catalog/index.js';
import type { OperationContext } from '../operations/index.js';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { modelOperations } from './model-operations.js';
import type { Models } from './models.js';

const MODELS = 30;
const LISTS = 2000;

let folder: string;
let environment: LmdbEnvironment;
let models: Models;
/** How often all lists of the account were read. */
let looks = 0;

const lists = Array.from({ length: LISTS }, (_, number) => {
  const [name, model] = [`list-${number}`, number % 2 === 0 ? 'model-0' : 'built-in'];
  return { name, model, reranker: number === 7 ? 'model-1' : null, features: {} } as unknown as ListRecord;
});
const groups = [{ name: 'group', reranker: 'model-1' }] as unknown as GroupRecord[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-models-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  const catalog = {
    lists: () => {
      looks += 1;
      return lists;
    },
    groups: () => groups,
  };
  models = openedModels({ folder, environment, modelsMax: MODELS, catalog });
  for (let number = 0; number < MODELS; number += 1) {
    await models.add({
      account: 'default',
      name: `model-${number}`,
      kind: 'embedding',
      provider: 'own',
      dimensions: 8,
      tokens_max: null,
      query_prefix: null,
      document_prefix: null,
      folder: null,
      url: null,
      served_name: null,
      requests_per_minute: null,
      tokens_per_minute: null,
      secret: null,
    });
  }
  looks = 0;
});
afterEach(async () => {
  await models.close();
  await environment.close();
  rmSync(folder, { recursive: true });
});

it('Listing models with their uses reads all lists once', async () => {
  const context = { services: { part: () => models } } as unknown as OperationContext;
  const { body } = (await (modelOperations[0] as (typeof modelOperations)[number]).handle(context, {
    params: { account: 'default' },
  } as never)) as {
    readonly body: { readonly models: readonly { readonly name: string; readonly used_by: readonly string[] }[] };
  };
  expect(looks).toBe(1);
  const used = Object.fromEntries(body.models.map(({ name, used_by: users }) => [name, users]));
  expect([used['built-in']?.length, used['model-0']?.length]).toEqual([LISTS / 2, LISTS / 2]);
  expect([used['model-1'], used['model-2']]).toEqual([['list-7', 'group'], []]);
});

it('Deleting a model that thousands of lists use is refused with a short message', async () => {
  await expect(models.delete('default', 'model-0')).rejects.toMatchObject({
    code: 'conflict',
    detail:
      "The model 'model-0' is used by list-0, list-2, list-4, list-6, list-8, list-10, list-12, list-14, list-16, list-18 and 990 others: set another model there first.",
  });
});
