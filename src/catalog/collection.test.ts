import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openEnvironment } from '../platform/index.js';
import { CollectionStore } from './collection.js';

interface Note {
  readonly text: string;
  readonly tags?: readonly string[];
  readonly of?: { readonly name: string | null };
  readonly fields?: Readonly<Record<string, string>>;
}

const folder = mkdtempSync(join(tmpdir(), 'gannet-collection-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const opened = () => {
  const environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  const store = CollectionStore.of(environment);
  return { environment, store, notes: store.collection<Note>('notes') };
};

it('A collection has in memory what is on disk, also of texts that were cut within a character', async () => {
  const { environment, store, notes } = opened();
  const whole: Note = { text: 'whole 😀', tags: ['a', '😀'], of: { name: null } };
  await store.change((change) => {
    change.put(notes, 'whole', whole);
    change.put(notes, 'named', { text: 'whole', fields: { 'cut \ud83d': 'x', '😀': 'y' } });
    change.put(notes, 'cut', { text: 'cut \ud83d', tags: ['a', '\ude00b'], of: { name: '\ud83d' } });
  });
  const before = ['whole', 'named', 'cut'].map((key) => notes.get(key));
  const named = { text: 'whole', fields: { 'cut \ufffd': 'x', '😀': 'y' } };
  expect(before).toEqual([whole, named, { text: 'cut \ufffd', tags: ['a', '\ufffdb'], of: { name: '\ufffd' } }]);
  expect(notes.get('whole')).toBe(whole);
  await environment.close();

  const again = opened();
  expect(['whole', 'named', 'cut'].map((key) => again.notes.get(key))).toEqual(before);
  await again.environment.close();
});
