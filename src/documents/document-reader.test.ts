/**
 * Documents are read in processes of their own: what happens to such a process is reported, and affects no other
 * document.
 */
import { afterEach, expect, it } from 'vitest';
import { BOMBS } from '../../test/support/pdf-bombs.js';
import { pdfOf } from '../../test/support/pdf.js';
import { SeededRandom } from '../../test/support/random.js';
import { DocumentReader } from './document-reader.js';
import { DOCUMENT_FAULTS, DocumentError, type DocumentLimits } from './types.js';

const LIMITS: DocumentLimits = { pagesMax: 200, charactersMax: 1e6, msMax: 60_000 };
const deaths: string[] = [];
const readers: DocumentReader[] = [];
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()));
  deaths.splice(0);
});

function readerOf({ processes = 1, memoryMibMax = 512, limits = LIMITS } = {}): DocumentReader {
  const reader = new DocumentReader({
    processes,
    memoryMibMax,
    limits,
    onDeath: ({ message }) => void deaths.push(message),
    onBug: (stack) => {
      throw new Error(stack);
    },
  });
  readers.push(reader);
  return reader;
}

async function outcome(reader: DocumentReader, bytes: Uint8Array, signal?: AbortSignal): Promise<string> {
  try {
    const { pages } = await reader.read(bytes, signal);
    return pages.map(({ text }) => text).join('|');
  } catch (error) {
    if (error instanceof DocumentError) return error.fault;
    throw error;
  }
}

const good = (text = 'Still here') => pdfOf([{ lines: [text] }]);

it('Documents are read concurrently, each by itself, and wait if there are more of them than processes', async () => {
  const reader = readerOf({ processes: 2 });
  const texts = Array.from({ length: 12 }, (_, index) => `Document ${index}`);
  expect(await Promise.all(texts.map((text) => outcome(reader, good(text))))).toEqual(texts);
  expect(deaths).toEqual([]);
});

it('A document that takes too much memory ends its process with an error, and the next one is read', async () => {
  const reader = readerOf({ memoryMibMax: 250 });
  const read = reader.read(BOMBS.unpacked());
  // The message tells the operator which setting to raise.
  const message =
    'Reading the document takes more memory than the 250 MiB that one may have (documents.memory_mib_max)';
  await expect(read).rejects.toMatchObject({ fault: 'too-large', message });
  expect(deaths).toEqual(['The process took more than 250 MiB']);
  expect(await outcome(reader, good())).toBe('Still here');
});

it('An endless document fails within its time or memory limit, and the next one is read', async () => {
  const reader = readerOf({ limits: { ...LIMITS, msMax: 500 } });
  expect(['timed-out', 'too-large', 'no-text', 'damaged']).toContain(await outcome(reader, BOMBS.drawsItself()));
  expect(await outcome(reader, good())).toBe('Still here');
});

it('Reading a document is stopped when its signal is aborted', async () => {
  const reader = readerOf();
  await outcome(reader, good());
  const abort = new AbortController();
  const read = outcome(reader, BOMBS.unpacked(), abort.signal);
  const gone = new Error('gone');
  abort.abort(gone);
  await expect(read).rejects.toBe(gone);
  expect(await outcome(reader, good())).toBe('Still here');
});

it('A document is not read if its signal is aborted while it waits or its process starts', async () => {
  const reader = readerOf();
  const gone = new Error('gone');
  await expect(outcome(reader, good(), AbortSignal.abort(gone))).rejects.toBe(gone);
  const [first, waiting] = [new AbortController(), new AbortController()];
  // Reading this one would take a minute.
  const comingUp = outcome(reader, BOMBS.drawsItself(), first.signal);
  const left = outcome(reader, BOMBS.drawsItself(), waiting.signal);
  const last = outcome(reader, good());
  waiting.abort(gone);
  await expect(left).rejects.toBe(gone);
  first.abort(gone);
  await expect(comingUp).rejects.toBe(gone);
  expect(await last).toBe('Still here');
  // No process was killed for it.
  expect(deaths).toEqual([]);
});

it('Hundreds of damaged documents result in text or in a known fault', async () => {
  const reader = readerOf({ processes: 2, limits: { ...LIMITS, msMax: 5000 } });
  const random = new SeededRandom(17);
  const original = pdfOf([
    { lines: ['The quick brown fox', 'jumps over the lazy dog'], values: ['typed'] },
    { lines: ['Another page'], rotated: 90 },
  ]);
  const ends = new Set<string>();
  const damaged = () => {
    const bytes = Buffer.from(original);
    for (let times = 1 + random.below(8); times > 0; times -= 1) bytes[random.below(bytes.length)] = random.below(256);
    return random.below(4) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes;
  };
  await Promise.all(
    Array.from({ length: 400 }, async () => {
      const end = await outcome(reader, damaged());
      ends.add((DOCUMENT_FAULTS as readonly string[]).includes(end) ? end : 'text');
    }),
  );
  expect([...ends]).toContain('text');
  expect([...ends]).toContain('damaged');
  expect(await outcome(reader, good())).toBe('Still here');
});
