/** Transcripts while the disk is full: nothing that was paid for is lost, and nothing more is paid for meanwhile. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { extractStore, keyOfFile, type KeptTranscript, type Transcribing } from '../../extracts/index.js';
import { RecordStore } from '../../records/index.js';
import type { IngestContext } from '../contract/ingest-context.js';
import type { KeepTranscriptTask } from '../contract/resource-tasks.js';
import { ListTranscripts, type ListTranscriptsOptions } from './list-transcripts.js';
import { keepTranscript } from './resource-handlers.js';

const FILES = ['a', 'b'].map((name) => ({ kind: 'audio' as const, url: `https://example.com/${name}.mp3` }));
const pieces = (...texts: readonly string[]): KeptTranscript => ({
  pieces: texts.map((text) => [[{ seconds: 0, text }]]),
  isWhole: false,
});
let folder = '';
let store: RecordStore;
let disk: Error | undefined;
let transcripts: ListTranscripts;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-transcripts-'));
  const listPath = join(folder, 'list');
  mkdirSync(listPath);
  store = new RecordStore(listPath, { create: true });
  disk = undefined;
  const extracts = extractStore(store).prepare([]);
  store.transaction(() => {
    for (const [index, file] of FILES.entries()) {
      const recording = { duration: null, passages: 0, truncated: false, hash: '', readMs: 1, transcript: `t${index}` };
      extracts.put(keyOfFile(file), { ...file, state: 'pending', recording });
    }
  });
  const host = {
    listPath,
    exclusive: (action: () => Promise<unknown>) => action(),
    runCommit: (task: KeepTranscriptTask) =>
      disk === undefined
        ? Promise.resolve(keepTranscript({ stores: { get: () => store } } as unknown as IngestContext, task))
        : Promise.reject(disk),
  };
  transcripts = new ListTranscripts({
    host: host as unknown as ListTranscriptsOptions['host'],
    store,
    settings: () => ({ account: 'default', transcription_model: 'whisper' }),
    reader: () => undefined,
  });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function transcribing(file: (typeof FILES)[number] | undefined): Transcribing {
  const found = file && transcripts.of({ ...file, forced: true, postponed: 0, transcribe: true });
  if (found === undefined) throw new Error('it is to be written down');
  return found;
}

it('ListTranscripts keeps parts in memory if the disk is full, and asks for no more until they are stored', async () => {
  const [first, second] = FILES.map(transcribing);
  await first?.keep('t0', pieces('one'));
  disk = new Error('full');
  await expect(first?.keep('t0', pieces('one', 'two'))).rejects.toBe(disk);
  await expect(first?.kept('t0')).rejects.toBe(disk);
  await expect(second?.kept('t1')).rejects.toBe(disk);
  disk = undefined;
  expect(await second?.kept('t1')).toEqual({ pieces: [], isWhole: false });
  expect(extractStore(store).transcript('t0')).toEqual(pieces('one', 'two'));
});

it('ListTranscripts deletes a transcript with the last file that has it', async () => {
  const [first] = FILES.map(transcribing);
  await first?.keep('t0', pieces('one'));
  // No file has this key.
  await first?.keep('t9', pieces('none'));
  expect(extractStore(store).transcript('t9')).toBeUndefined();
  const extracts = extractStore(store);
  store.transaction(() => {
    for (const file of FILES) extracts.remove(keyOfFile(file));
  });
  expect(extracts.transcript('t0')).toBeUndefined();
});

it('ListTranscripts transcribes recordings, but no documents', () => {
  const item = { url: 'https://example.com/a.pdf', kind: 'document', forced: true, postponed: 0 } as const;
  expect(transcripts.of(item)).toBeUndefined();
  expect(transcribing(FILES[0]).asks).toBe(true);
});
