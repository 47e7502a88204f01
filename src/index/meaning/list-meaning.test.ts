/**
 * Vectors that are stored with the records of a list: those that come with the records, and those that a model makes.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  importLines,
  LIST_DEFINITION as definition,
  LIST_SETTINGS as settings,
  ListsWithModels,
  putRequest as put,
  written,
} from '../../../test/support/lists-with-models.js';
import { hashedVector, ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import { ModelError } from '../../vectors/index.js';
import type { ListIndex } from '../index.js';
import { LIST_STATE_FORMAT_WITH_SHORT_RECORDS } from '../../store/index.js';

let lists: ListsWithModels;
let embedder: ScriptedEmbedder;
beforeEach(() => {
  embedder = new ScriptedEmbedder();
  lists = new ListsWithModels(new ScriptedModels({ mini: embedder }));
});
afterEach(() => lists.remove());

async function untilEmbedded(list: ListIndex): Promise<void> {
  await expect.poll(() => list.meaning()?.state, { interval: 5 }).toBe('ready');
}

describe('vectors that come with the records', () => {
  it('are kept through changes of fields, restarts, versions and clones, and deleted with their records', async () => {
    let list = await lists.create('own');
    const one = await written(list, put('one', { title: 'One' }, [[1, 2, 3]]));
    const two = await written(
      list,
      put('two', { title: 'Two' }, [
        [1, 0, 0],
        [0, 1, 0],
      ]),
    );
    const three = await written(list, put('three', { title: 'Three' }, [[0, 0, 1]]));
    const four = await written(list, put('four', { title: 'Four' }));
    const all = {
      [one.number]: [[1, 2, 3]],
      [two.number]: [
        [1, 0, 0],
        [0, 1, 0],
      ],
      [three.number]: [[0, 0, 1]],
    };
    expect(await lists.storedVectors()).toEqual(all);
    expect(list.meaning()).toEqual({ state: 'ready', embedded: 3, pending: 0, failed: 0 });

    await list.write({ kind: 'patch', id: one.id, name: undefined, fields: { price: 5 } });
    await list.write({ kind: 'patch', id: four.id, name: undefined, fields: {}, vectors: [Float32Array.of(4, 4, 4)] });
    await list.write({ kind: 'delete', id: three.id });
    // Replacing a record also replaces its vectors.
    await list.write({ kind: 'replace', id: two.id, name: undefined, fields: { title: 'Two again' } });
    const now = { [one.number]: [[1, 2, 3]], [four.number]: [[4, 4, 4]] };
    expect(await lists.storedVectors()).toEqual(now);

    list = await lists.reopen('own');
    await list.changeDefinition({ ...definition, facets: [] });
    await expect.poll(() => list.currentVersion).toBe(2);
    expect(await lists.storedVectors()).toEqual(now);
    await lists.indexes.clone('a1', 'a2', { ...settings, list: 'copy', model: 'own' });
    expect(await lists.storedVectors('a2')).toEqual(now);
    expect(lists.indexes.opened('a2')?.meaning()).toMatchObject({ state: 'ready', embedded: 2 });

    await list.write({ kind: 'patch', id: one.id, name: undefined, fields: {}, vectors: null });
    expect(await lists.storedVectors()).toEqual({ [four.number]: [[4, 4, 4]] });
    expect(await lists.storedVectors('a2')).toEqual(now);
  });

  it('are refused with their record if they do not fit, and the error says what was expected', async () => {
    const list = await lists.create('own');
    await list.write(put('first', { title: 'First' }, [[1, 2, 3]]));
    await expect(list.write(put('short', { title: 'Short' }, [[1, 2]]))).rejects.toMatchObject({
      code: 'invalid-record',
      detail:
        "A vector of this list must have 3 numbers, not 2. For another length, use another model of the provider 'own'.",
    });
    const { created, failed, errors } = await importLines(list, [
      '{"name": "a", "fields": {"title": "A"}, "vector": [1, 1, 1]}',
      '{"name": "b", "fields": {"title": "B"}, "vector": [1, 1]}',
      '{"name": "c", "fields": {"title": "C"}, "vector": [1, null, 1]}',
      '{"name": "d", "fields": {"title": "D"}, "vectors": [[0, 0, 0]]}',
      '{"name": "e", "fields": {"title": "E"}, "vectors": [[1, 2, 3], [1, 2]]}',
      '{"name": "f", "fields": {"title": "F"}, "vector": [1e300, 1, 1]}',
      '{"name": "g", "fields": {"title": "G"}, "vectors": [[1, 2, 3], [3, 2, 1]]}',
      '{"name": "h", "fields": {"title": "H"}, "vector": "abc"}',
      '{"name": "i", "fields": {"title": "I"}, "vector": [1, 2, 3], "vectors": [[1, 2, 3]]}',
    ]);
    expect({ created, failed }).toEqual({ created: 2, failed: 7 });
    expect(errors.map(({ line, detail }) => [line, /\b(numbers?|zeros?|length|array|either)\b/.test(detail)])).toEqual(
      [2, 3, 4, 5, 6, 8, 9].map((line) => [line, true]),
    );
    expect(list.meaning()?.embedded).toBe(3);
  });

  it('are refused by a list without a model for them', async () => {
    const list = await lists.create(null);
    await expect(list.write(put('one', { title: 'One' }, [[1]]))).rejects.toMatchObject({
      code: 'invalid-record',
      errors: [{ pointer: '/vector' }],
    });
    expect(list.meaning()).toEqual({ state: 'off', embedded: 0, pending: 0, failed: 0 });
  });

  it('stay correct while another model or none is selected', async () => {
    const list = await lists.create('own');
    const one = await written(list, put('one', { title: 'One' }, [[1, 2]]));
    const two = await written(list, put('two', { title: 'Two' }, [[2, 1]]));
    await list.applySettings({ ...settings, model: null });
    expect(list.meaning()?.state).toBe('off');
    await list.write({ kind: 'delete', id: two.id });
    await expect(list.write(put('three', { title: 'Three' }, [[1, 1]]))).rejects.toMatchObject({
      code: 'invalid-record',
    });
    await list.applySettings({ ...settings, model: 'own' });
    // Until then no search uses them.
    await expect.poll(() => list.meaning()).toEqual({ state: 'ready', embedded: 1, pending: 0, failed: 0 });
    expect(await lists.storedVectors()).toEqual({ [one.number]: [[1, 2]] });
  });
});

describe('vectors that a model makes', () => {
  const rows = (...texts: string[]) => texts.map((text) => Array.from(hashedVector(text, 8)));

  it('depend on the text of their record and on nothing else', async () => {
    let list = await lists.create('mini');
    const one = await written(list, put('one', { title: 'Gulls', text: 'They fly. They dive', price: 1 }));
    const two = await written(list, put('two', { title: 'Terns' }));
    await untilEmbedded(list);
    expect(await lists.storedVectors()).toEqual({
      [one.number]: rows('Gulls: They fly', 'Gulls: They dive'),
      [two.number]: rows('Terns'),
    });
    embedder.asked.length = 0;

    await list.write({ kind: 'patch', id: one.id, name: undefined, fields: { price: 2 } });
    await list.write(put('two', { title: 'Terns', price: 7 }));
    await untilEmbedded(list);
    expect(embedder.asked).toEqual([]);
    await list.write({ kind: 'patch', id: two.id, name: undefined, fields: { title: 'Skuas' } });
    await list.write({ kind: 'delete', id: one.id });
    await untilEmbedded(list);
    expect(embedder.asked).toEqual(['Skuas']);

    // A restart, a version with the same texts and a clone compute none of them again.
    list = await lists.reopen('mini');
    await list.changeDefinition({ ...definition, facets: [] });
    await expect.poll(() => list.currentVersion).toBe(2);
    await lists.indexes.clone('a1', 'a2', { ...settings, list: 'copy', model: 'mini' });
    await untilEmbedded(lists.indexes.opened('a2') as ListIndex);
    await untilEmbedded(list);
    for (const id of ['a1', 'a2']) expect(await lists.storedVectors(id)).toEqual({ [two.number]: rows('Skuas') });
    expect(embedder.asked).toEqual(['Skuas']);

    // A version with other texts gets its vectors before it becomes current.
    await list.changeDefinition({
      ...definition,
      searchable_fields: [
        { name: 'title', weight: 1 },
        { name: 'name', weight: 1 },
      ],
    });
    await expect.poll(() => list.currentVersion).toBe(3);
    await untilEmbedded(list);
    expect(await lists.storedVectors()).toEqual({ [two.number]: rows('Skuas: two') });
  });

  it('are made for existing records when a model is added, with exact counts of pending and failed ones', async () => {
    const list = await lists.create(null);
    await importLines(
      list,
      Array.from({ length: 50 }, (_, n) => JSON.stringify({ name: `r${n}`, title: n === 7 ? 'poison' : `Title ${n}` })),
    );
    await list.write(put('empty', { price: 3 }));
    const open: (() => void)[] = [];
    embedder.answer = async (texts) => {
      await new Promise<void>((resolve) => open.push(resolve));
      if (texts.includes('poison')) throw new ModelError('Bad words.', { retry: 'never', reason: 'refused' });
      return texts.map((text) => hashedVector(text, 8));
    };
    await list.applySettings({ ...settings, model: 'mini' });
    await expect.poll(() => open.length).toBe(1);
    expect(list.meaning()).toEqual({ state: 'embedding', embedded: 0, pending: 51, failed: 0 });
    for (;;) {
      const status = list.meaning();
      expect((status?.embedded ?? 0) + (status?.pending ?? 0) + (status?.failed ?? 0)).toBe(51);
      if (status?.pending === 0) break;
      open.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(list.meaning()).toMatchObject({ state: 'ready', embedded: 49, pending: 0, failed: 2 });
    expect(new Set(['refused', 'no-text'])).toContain(list.meaning()?.error);

    embedder.answer = (texts) => texts.map((text) => hashedVector(text, 8));
    expect(await list.retryEmbeddings()).toBe(2);
    await expect.poll(() => list.meaning()).toMatchObject({ embedded: 50, pending: 0, failed: 1, error: 'no-text' });
  });

  it('are made later if the model cannot be reached, and no write fails meanwhile', async () => {
    embedder.answer = () => {
      throw new ModelError('Nobody answers at 127.0.0.1.', { retry: 'later', reason: 'unavailable', retryAfterMs: 50 });
    };
    let list = await lists.create('mini');
    for (let n = 0; n < 6; ++n) await list.write(put(`r${n}`, { title: `Title ${n}` }));
    await expect
      .poll(() => list.meaning())
      .toEqual({
        state: 'failing',
        embedded: 0,
        pending: 6,
        failed: 0,
        error: 'Nobody answers at 127.0.0.1.',
      });
    embedder.answer = (texts) => texts.map((text) => hashedVector(text, 8));
    list = await lists.reopen('mini');
    await untilEmbedded(list);
    expect(list.meaning()).toEqual({ state: 'ready', embedded: 6, pending: 0, failed: 0 });
  });

  it("are refused if the model's answer has a wrong length, only zeros or NaN", async () => {
    const answers: Record<string, Float32Array> = {
      short: new Float32Array(3).fill(1),
      zero: new Float32Array(8),
      odd: new Float32Array(8).fill(Number.NaN),
    };
    embedder.answer = (texts) => texts.map((text) => answers[text] ?? hashedVector(text, 8));
    const list = await lists.create('mini');
    await importLines(
      list,
      ['short', 'zero', 'odd', 'fine'].map((title) => JSON.stringify({ name: title, title })),
    );
    await expect
      .poll(() => list.meaning())
      .toMatchObject({ embedded: 1, pending: 0, failed: 3, error: 'no-direction' });
  });

  it('of another model are computed while those of the old one serve', async () => {
    const larger = new ScriptedEmbedder({ version: 'scripted-2', dimensions: 16 });
    lists.models.embedders['maxi'] = larger;
    const list = await lists.create('mini');
    await importLines(
      list,
      Array.from({ length: 9 }, (_, n) => JSON.stringify({ name: `r${n}`, title: `Title ${n}` })),
    );
    await untilEmbedded(list);
    let isAway = true;
    larger.answer = (texts) => {
      if (isAway) throw new ModelError('Away.', { retry: 'later', reason: 'unavailable' });
      return texts.map((text) => hashedVector(text, 16));
    };
    await list.applySettings({ ...settings, model: 'maxi' });
    await expect.poll(() => list.meaning()?.state).toBe('failing');
    const spaces = () => lists.inStore((_, state) => state.meaning?.spaces.map((space) => [space.model, space.state]));
    expect(await spaces()).toEqual([
      ['mini', 'serving'],
      ['maxi', 'filling'],
    ]);
    await list.write(put('new', { title: 'New' }));
    await expect.poll(() => embedder.asked.at(-1)).toBe('New');
    expect(await spaces()).toEqual([
      ['mini', 'serving'],
      ['maxi', 'filling'],
    ]);
    isAway = false;
    await list.retryEmbeddings();
    await expect.poll(() => list.meaning()).toMatchObject({ embedded: 10, pending: 0 });
    expect(larger.asked).toContain('New');
    await expect.poll(spaces).toEqual([
      ['mini', 'resting'],
      ['maxi', 'serving'],
    ]);
  });
});

describe('a list without a model', () => {
  it('has no databases for vectors in its store', async () => {
    const list = await lists.create(null);
    await importLines(
      list,
      Array.from({ length: 20 }, (_, n) => JSON.stringify({ name: `r${n}`, title: `Title ${n}` })),
    );
    await list.write(put('r3', { title: 'Other' }));
    const [databases, state] = await lists.inStore((store, found) => [
      Array.from(store.environment.root.getKeys(), String),
      found,
    ]);
    expect(databases.filter((name) => /embed|vector|-s\d/.test(name))).toEqual([]);
    expect(state).toMatchObject({ format: LIST_STATE_FORMAT_WITH_SHORT_RECORDS });
    expect(state.meaning).toBeUndefined();
    expect(embedder.calls).toBe(0);
  });
});
