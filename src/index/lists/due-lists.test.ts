/**
 * Lists that were closed while a model or host must not be called: they are opened again when that is over, although
 * nobody uses them.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  LIST_DEFINITION,
  LIST_SETTINGS,
  ListsWithModels,
  putRequest as put,
} from '../../../test/support/lists-with-models.js';
import { ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import type { FileReader, ReadingOutcome } from '../../extracts/index.js';
import { ModelError } from '../../vectors/index.js';

const POLL = { interval: 5 };
const OTHERS = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6'];
const AGAIN_MS = 300;

let lists: ListsWithModels;
let embedder: ScriptedEmbedder;
beforeEach(async () => {
  embedder = new ScriptedEmbedder();
  lists = new ListsWithModels(new ScriptedModels({ mini: embedder }), { GANNET_LISTS_OPEN_MAX: '4' });
  for (const id of OTHERS) await lists.indexes.create(id, { ...LIST_SETTINGS, list: id }, LIST_DEFINITION);
});
afterEach(() => lists.remove());

/** Uses other lists until this one is closed, even if it is opened in between because something is due. */
async function untilAtRest(): Promise<void> {
  await expect
    .poll(async () => {
      for (const id of OTHERS) await lists.indexes.open(id, { ...LIST_SETTINGS, list: id });
      return lists.indexes.opened('a1');
    }, POLL)
    .toBeUndefined();
}

it('A closed list gets its pending vectors when its model may be called again', async () => {
  let mayBeAsked = false;
  embedder.answer = (texts) => {
    if (mayBeAsked) return texts.map(() => new Float32Array(embedder.dimensions).fill(1));
    throw new ModelError('Too many requests.', { retry: 'later', reason: 'unavailable', retryAfterMs: AGAIN_MS });
  };
  const list = await lists.create('mini');
  await list.write(put('one', { title: 'One' }));
  await expect.poll(() => embedder.calls, POLL).toBeGreaterThan(0);
  await untilAtRest();
  expect(lists.indexes.outline('a1')?.meaning()).toMatchObject({ pending: 1, embedded: 0 });
  mayBeAsked = true;
  await expect.poll(() => lists.indexes.outline('a1')?.meaning(), POLL).toMatchObject({ pending: 0, embedded: 1 });
});

it('A closed list gets its pending files read when their host may be called again', async () => {
  let mayBeAsked = false;
  let asked = 0;
  const reader: FileReader = {
    pictureModel: () => undefined,
    framesBy: '',
    parallelMax: 1,
    // There are enough retries until the list is closed.
    retryMs: Array.from({ length: 1000 }, () => AGAIN_MS),
    checkMs: 3_600_000,
    read: (): Promise<ReadingOutcome> => {
      asked += 1;
      if (!mayBeAsked)
        return Promise.resolve({ kind: 'unreachable', error: 'timed-out', detail: 'Wait.', afterMs: AGAIN_MS });
      const file = { validators: { etag: '"1"' }, hash: 'h' };
      const pages = [{ page: 1, text: 'Text' }];
      const content = { kind: 'document', pageCount: 1, truncated: false, pages } as const;
      return Promise.resolve({ kind: 'read', file, content });
    },
  };
  lists.indexes.useReader(reader);
  const definition = { ...LIST_DEFINITION, resources: [{ name: 'report', kind: 'document' } as const] };
  const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
  await list.write(put('one', { report: 'https://example.com/a.pdf' }));
  await expect.poll(() => asked, POLL).toBeGreaterThan(0);
  await untilAtRest();
  expect(lists.indexes.outline('a1')?.resources()).toMatchObject({ pending: 1, read: 0 });
  mayBeAsked = true;
  await expect.poll(() => lists.indexes.outline('a1')?.resources(), POLL).toMatchObject({ pending: 0, read: 1 });
});
