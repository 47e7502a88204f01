import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, linkSync, mkdtempSync, openSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWhere } from '../test/support/skip.js';
import { DocumentBatchWriter } from './document-batch.js';
import { type Kernel, kernel, kernelConstant, type SegmentHandle, type SegmentSchema } from './index.js';
import { MATCH_ALL, QueryPlanWriter } from './query-plan.js';

const schema: SegmentSchema = { textFields: [{ name: 'text', weightUnits: 1 }], columns: [] };
const NOWHERE = 0xffffffff;
const invalid = expect.objectContaining({ name: 'KernelError', code: 'invalid-argument' });

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gannet-kernel-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function build(recordNumbers: readonly number[], text = 'some words'): string {
  const batch = new DocumentBatchWriter();
  for (const recordNumber of recordNumbers) {
    batch.begin(recordNumber);
    batch.text(0, `${text} r${recordNumber}`);
    batch.end();
  }
  files += 1;
  const file = path.join(folder, `${files}.mdb`);
  kernel.buildSegment(file, schema, batch.finish());
  return file;
}

function plan(term?: string): Uint8Array {
  return new QueryPlanWriter().write({
    needTotal: true,
    skip: 0,
    size: 10,
    groups: term === undefined ? [] : [{ occur: 'must', boost: 1, alternatives: [{ weight: 1, terms: [term] }] }],
    filter: MATCH_ALL,
    sort: [],
    facets: [],
  });
}

describe('segments', () => {
  test('have one handle per path, which closes after as many closes as opens', () => {
    const file = build([1, 2]);
    const segment = kernel.openSegment(file);
    expect(kernel.openSegment(file)).toBe(segment);
    kernel.closeSegment(segment);
    expect([...kernel.recordNumbers(segment)]).toEqual([1, 2]);
    kernel.closeSegment(segment);
    expect(() => kernel.closeSegment(segment)).toThrow(invalid);
    expect(() => kernel.recordNumbers(segment)).toThrow(invalid);
  });

  test('get a new handle if another file replaced the one at their path', () => {
    const first = build([1]);
    const second = build([2]);
    const segment = kernel.openSegment(first);
    rmSync(first);
    linkSync(second, first);
    const other = kernel.openSegment(first);
    expect(other).not.toBe(segment);
    expect([...kernel.recordNumbers(segment)]).toEqual([1]);
    expect([...kernel.recordNumbers(other)]).toEqual([2]);
    kernel.closeSegment(segment);
    kernel.closeSegment(other);
  });

  test('are merged without their deleted documents', () => {
    const a = kernel.openSegment(build([1, 2, 3]));
    const b = kernel.openSegment(build([4]));
    const file = path.join(folder, 'merged.mdb');
    const summary = kernel.mergeSegments(file, schema, [{ segment: a, deleted: Uint8Array.of(0b010) }, { segment: b }]);
    expect(summary.documentCount).toBe(3);
    const merged = kernel.openSegment(file);
    expect([...kernel.recordNumbers(merged)]).toEqual([1, 3, 4]);
    expect([...kernel.documentsOf(merged, Uint32Array.of(3, 2, 4))]).toEqual([1, NOWHERE, 2]);
    for (const segment of [a, b, merged]) kernel.closeSegment(segment);
  });

  test('are refused with a code if the file is missing or the batch is cut short', () => {
    expect(() => kernel.openSegment(path.join(folder, 'missing'))).toThrow(
      expect.objectContaining({ name: 'KernelError', code: 'io' }),
    );
    expect(() => kernel.buildSegment(path.join(folder, 'x'), schema, new Uint8Array(3))).toThrow(invalid);
  });
});

describeWhere(process.platform === 'linux', 'only Linux says which mapping it was')(
  'a segment file that is cut while it is searched',
  () => {
    const unreadable = expect.objectContaining({ name: 'KernelError', code: 'unreadable' });
    // The segment takes some hundred memory pages.
    const text = Array.from({ length: 20 }, (_, index) => `word${index}`).join(' ');
    const numbers = Array.from({ length: 5000 }, (_, index) => index);

    test('makes every call fail as unreadable, is reported once, and is forgotten after its close', () => {
      const [cut, whole] = [build(numbers, text), build([1], text)];
      const segments = [cut, whole].map((file) => kernel.openSegment(file));
      const [both, other] = [segments, segments.slice(1)].map((added) =>
        kernel.publishGeneration({ add: added.map((segment) => ({ segment })), settings: '' }),
      ) as [number, number];
      expect(kernel.collectRecordNumbers(other, plan('word1'))).toHaveLength(1);
      const before = kernel.unreadableCount();
      truncateSync(cut, 4096);
      // Pages behind the cut read as zeros. No call may return a result made of them, so the first fault fails all later calls.
      const options = { stemsMax: 1, typosMax: 1, prefixesMax: 1, compoundsMax: 1, editsMax: [1] };
      for (let round = 0; round < 2; ++round) {
        expect(() => kernel.search(both, plan('word1'))).toThrow(unreadable);
        expect(() => kernel.collectRecordNumbers(both, plan('r4000'))).toThrow(unreadable);
        expect(() => kernel.documentFrequencies(both, ['word3'])).toThrow(unreadable);
        expect(() => kernel.findSplits(both, 'word3')).toThrow(unreadable);
        expect(() => kernel.areNeighbours(both, 'word3', 'word5')).toThrow(unreadable);
        expect(() => kernel.expand(both, ['wrod7'], options)).toThrow(unreadable);
        expect(() => kernel.completeWord(both, 'wor', 0, 5)).toThrow(unreadable);
        // Commits call these: a document that zeros hide would stay in the index for good.
        expect(() => kernel.locate(both, Uint32Array.of(4000))).toThrow(unreadable);
        expect(() => kernel.newTerms(other, segments[0] as SegmentHandle)).toThrow(unreadable);
        expect(() => kernel.documentsOf(segments[0] as SegmentHandle, Uint32Array.of(4000))).toThrow(unreadable);
        expect(() => kernel.recordNumbers(segments[0] as SegmentHandle)).toThrow(unreadable);
        expect(() =>
          kernel.mergeSegments(path.join(folder, 'of-cut.mdb'), schema, [{ segment: segments[0] as SegmentHandle }]),
        ).toThrow(unreadable);
      }
      expect(kernel.collectRecordNumbers(other, plan('word1'))).toHaveLength(1);
      expect(kernel.unreadableCount()).toBeGreaterThan(before);
      expect(kernel.takeUnreadableFiles()).toEqual([cut]);
      expect(kernel.takeUnreadableFiles()).toEqual([]);
      kernel.releaseGeneration(both);
      kernel.releaseGeneration(other);
      for (const segment of segments) kernel.closeSegment(segment);
      // Another segment mapped at the same address is readable.
      const next = kernel.openSegment(build(numbers, text));
      const after = kernel.publishGeneration({ add: [{ segment: next }], settings: '' });
      expect(kernel.collectRecordNumbers(after, plan('r4000'))).toHaveLength(1);
      kernel.releaseGeneration(after);
      kernel.closeSegment(next);
    });

    test('is reported as unreadable if the file was removed before', () => {
      const file = build(numbers, text);
      const segment = kernel.openSegment(file);
      const generation = kernel.publishGeneration({ add: [{ segment }], settings: '' });
      const held = openSync(file, 'r+');
      rmSync(file);
      ftruncateSync(held, 4096);
      closeSync(held);
      expect(() => kernel.search(generation, plan('word1'))).toThrow(unreadable);
      expect(kernel.takeUnreadableFiles()).toEqual([file]);
      kernel.releaseGeneration(generation);
      kernel.closeSegment(segment);
    });

    test('is reported as unreadable if the process has no file descriptor left', () => {
      const addon = path.join(import.meta.dirname, 'build', 'Release', 'gannet_kernel.node');
      const script = `
        const fs = require('node:fs');
        const [addon, file, plan] = process.argv.slice(1);
        const kernel = require(addon);
        const generation = kernel.publishGeneration({ add: [{ segment: kernel.openSegment(file) }], settings: '' });
        fs.truncateSync(file, 4096);
        let last;
        const takeAll = () => {
          for (;;) last = fs.openSync('/dev/null');
        };
        const codeOf = (action) => {
          try {
            action();
          } catch ({ code }) {
            return code;
          }
        };
        const full = codeOf(takeAll);
        const found = codeOf(() => kernel.search(generation, Buffer.from(plan, 'base64')));
        fs.closeSync(last); // for what is printed
        console.log(full, found, kernel.takeUnreadableFiles().length);`;
      const file = build(numbers, text);
      const args = ['-e', script, addon, file, Buffer.from(plan('word1')).toString('base64')];
      const { stdout, signal, stderr } = spawnSync(
        'sh',
        ['-c', 'ulimit -n 100; exec "$0" "$@"', process.execPath, ...args],
        { encoding: 'utf8' },
      );
      expect({ stdout, signal, stderr }).toEqual({ stdout: 'EMFILE unreadable 1\n', signal: null, stderr: '' });
    });
  },
);

describe('word expansions', () => {
  const options = { stemsMax: 10, typosMax: 10, prefixesMax: 0, compoundsMax: 0 };

  test('contain words with the same stem, typos and words that begin so, from all segments', () => {
    const segments = ['connected connection connecting', 'connection conection r500 r501', 'connective'].map(
      (text, i) => {
        const batch = new DocumentBatchWriter();
        batch.begin(i);
        batch.text(0, text);
        batch.end();
        const file = path.join(folder, `expansions-${i}.mdb`);
        kernel.buildSegment(file, { ...schema, language: 'en' }, batch.finish());
        return kernel.openSegment(file);
      },
    );
    const generation = kernel.publishGeneration({ add: segments.map((segment) => ({ segment })), settings: '' });
    const words = ['connection', 'conected', 'r500', 'absent'];
    const edits = { ...options, editsMax: [1, 2, 2, 0], prefixesMax: 1 };
    const stem = (term: string, documentFrequency: number) => ({ term, documentFrequency, distance: 0 });
    const typo = (term: string, documentFrequency: number, distance: number) => ({ term, documentFrequency, distance });
    expect(kernel.expand(generation, words, edits)).toEqual([
      {
        documentFrequency: 2,
        stems: [stem('connected', 1), stem('connecting', 1), stem('connective', 1)],
        typos: [typo('conection', 1, 1)],
        prefixes: [],
        compounds: [],
      },
      {
        documentFrequency: 0,
        stems: [stem('conection', 1)],
        typos: [typo('connected', 1, 1)],
        prefixes: [],
        compounds: [],
      },
      { documentFrequency: 1, stems: [], typos: [], prefixes: [], compounds: [] },
      { documentFrequency: 0, stems: [], typos: [], prefixes: [], compounds: [] },
    ]);
    expect(kernel.expand(generation, ['conn'], { ...options, editsMax: [0], prefixesMax: 2 })[0]?.prefixes).toEqual([
      stem('connection', 2),
      stem('connected', 1),
    ]);
    kernel.releaseGeneration(generation);
    for (const segment of segments) kernel.closeSegment(segment);
  });

  test('are refused without valid edit distances for each word, or with numbers over their limits', () => {
    const generation = kernel.publishGeneration({ settings: '' });
    expect(() => kernel.expand(generation, ['a', 'b'], { ...options, editsMax: [1] })).toThrow(invalid);
    expect(() => kernel.expand(generation, ['a'], { ...options, editsMax: [3] })).toThrow(invalid);
    expect(() => kernel.expand(generation, ['a'], { ...options, editsMax: [1], typosMax: 1e9 })).toThrow(invalid);
    expect(() => kernel.expand(generation, ['a'], null as never)).toThrow(TypeError);
    expect(() => kernel.buildSegment('/x', { ...schema, language: 5 as never }, new Uint8Array())).toThrow(TypeError);
    kernel.releaseGeneration(generation);
  });
});

describe('generations', () => {
  test('build on one another with added, removed and deleted documents and settings', () => {
    const a = kernel.openSegment(build([1, 2, 3]));
    const b = kernel.openSegment(build([2, 9]));
    const first = kernel.publishGeneration({ add: [{ segment: a }], settings: 'S' });
    const second = kernel.publishGeneration({
      base: first,
      add: [{ segment: b }],
      deletions: [{ segment: a, documents: Uint32Array.of(1) }],
    });
    expect(kernel.generationSettings(second)).toBe('S');
    expect(kernel.generationInfo(second)).toMatchObject({ documentCount: 5, liveCount: 4 });
    expect(kernel.generationInfo(second).segments.map(({ segment, deletedCount }) => [segment, deletedCount])).toEqual([
      [a, 1],
      [b, 0],
    ]);
    expect([...kernel.locate(second, Uint32Array.of(2, 3, 4))]).toEqual([b, 0, a, 2, NOWHERE, NOWHERE]);
    expect([...kernel.locate(first, Uint32Array.of(2))]).toEqual([a, 1]);
    const deleted = kernel.generationDeletions(second, a);
    expect(deleted && [...deleted]).toEqual([0b010]);
    expect(kernel.generationDeletions(second, b)).toBeUndefined();
    expect([...kernel.documentFrequencies(second, ['some', 'r9', 'none'])]).toEqual([5, 1, 0]);
    expect([...kernel.findSplits(second, 'r9some')]).toEqual([0, 0, 0, 1, 0, 0, ...[0, 0, 0], ...[0, 0, 0], 0, 0, 0]);
    const areNeighbours = (left: string, right: string) => kernel.areNeighbours(second, left, right);
    expect([areNeighbours('some', 'words'), areNeighbours('words', 'r9')]).toEqual([true, true]);
    expect([areNeighbours('some', 'r9'), areNeighbours('words', 'some')]).toEqual([false, false]);
    expect([...kernel.collectRecordNumbers(second, plan('some'))]).toEqual([1, 2, 3, 9]);

    // A closed segment stays open while a generation holds it, and can still be removed from the next one.
    kernel.closeSegment(a);
    expect([...kernel.collectRecordNumbers(second, plan('r1'))]).toEqual([1]);
    const third = kernel.publishGeneration({ base: second, remove: [a], settings: 'T' });
    expect([...kernel.collectRecordNumbers(third, plan())]).toEqual([2, 9]);
    expect(kernel.generationSettings(third)).toBe('T');
    const fourth = kernel.publishGeneration({ add: [{ segment: b, deleted: Uint8Array.of(0b10) }] });
    expect([...kernel.collectRecordNumbers(fourth, plan())]).toEqual([2]);
    for (const generation of [first, second, third, fourth]) kernel.releaseGeneration(generation);
    expect(() => kernel.releaseGeneration(first)).toThrow(invalid);
    expect(() => kernel.generationInfo(second)).toThrow(invalid);
    kernel.closeSegment(b);
  });

  test('refuse deletions of documents that the segment does not have', () => {
    const segment = kernel.openSegment(build([1]));
    expect(() => kernel.publishGeneration({ add: [{ segment, deleted: new Uint8Array(2) }] })).toThrow(invalid);
    expect(() => kernel.publishGeneration({ add: [{ segment, deleted: Uint8Array.of(2) }] })).toThrow(invalid);
    const base = kernel.publishGeneration({ add: [{ segment }] });
    expect(() => kernel.publishGeneration({ base, deletions: [{ segment, documents: Uint32Array.of(1) }] })).toThrow(
      invalid,
    );
    kernel.releaseGeneration(base);
    kernel.closeSegment(segment);
  });
});

describe('arguments of the kernel', () => {
  // Both end the process: countLeases if leases are miscounted (kernel-leases.test.ts), endProcess always (second-signal.test.ts).
  const ending = ['countLeases', 'endProcess'];
  const names = Object.keys(kernel).filter(
    (name) => !ending.includes(name) && typeof kernel[name as keyof Kernel] === 'function',
  );

  test('throw an Error and do not crash the process if their types are wrong', async () => {
    expect(names.length).toBeGreaterThan(15);
    const detached = new Uint8Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const odd: unknown[] = [
      undefined, null, true, -1, 0, 1.5, Number.NaN, 2 ** 40, '', 'ndjson', 'a\0b', [], [1], ['a', 1], [[]], {},
      { segment: 0 }, new Uint8Array(0), new Uint8Array(9), new Uint32Array(2), new Float64Array(1), detached,
      new DataView(new ArrayBuffer(8)), new SharedArrayBuffer(8), Symbol('x'), 10n, () => 1, new Proxy([], {}),
      { textFields: [{ weightUnits: 1 }], columns: [] }, { add: [{ segment: 1e9 }] }, { remove: [null] },
      { get textFields() { throw new Error('from a getter'); } },
    ]; // prettier-ignore
    const arguments_ = fc.array(fc.constantFrom(...odd), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), arguments_, async (name, values) => {
        // These create a file under any name. NUL makes each path invalid.
        if (name === 'lockFile' || name === 'buildSegment' || name === 'mergeSegments') values.unshift('\0');
        try {
          await (kernel[name as keyof Kernel] as (...args: unknown[]) => unknown)(...values);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('are named in the message of the error', () => {
    const loose = kernel as unknown as Record<string, (...args: unknown[]) => unknown>;
    expect(() => loose['openSegment']!(1)).toThrow(new TypeError('path has to be a string'));
    expect(() => loose['search']!(NOWHERE, 'x')).toThrow(invalid);
    expect(() => loose['buildSegment']!('x', { textFields: 1 })).toThrow(
      new TypeError('schema.textFields has to be an array'),
    );
    expect(() => loose['documentFrequencies']!('x')).toThrow(TypeError);
    const noFacets = { kinds: 0, size: 0, words: [] };
    expect(() => loose['countDistinct']!([{ generation: NOWHERE }], noFacets)).toThrow(invalid);
    expect(() => loose['countDistinct']!([], { ...noFacets, kinds: 2 ** 20 })).toThrow(TypeError);
    expect(() => loose['countDistinct']!([], {})).toThrow(new TypeError('facets.words has to be an array of strings'));
    expect(() => loose['findSplits']!(NOWHERE, 'x')).toThrow(invalid);
    expect(() => loose['areNeighbours']!(NOWHERE, 'x', 'y')).toThrow(invalid);
    expect(() => loose['endProcess']!('x')).toThrow(TypeError);
  });

  test('of kernelConstant are refused if no constant has that name', () => {
    expect(kernelConstant('WindowSize')).toBe(4096);
    expect(() => kernelConstant('Nonsense')).toThrow('Nonsense');
  });
});

describe('highlight', () => {
  function highlightPlan(terms: readonly string[], phrases: readonly (readonly string[])[] = []): Uint8Array {
    const alternatives = [...terms.map((term) => [term]), ...phrases].map((one) => ({ weight: 1, terms: one }));
    const groups = alternatives.length === 0 ? [] : [{ occur: 'should' as const, boost: 1, alternatives }];
    const plan = { needTotal: true, skip: 0, size: 0, groups, filter: MATCH_ALL, sort: [], facets: [] };
    return new QueryPlanWriter().write(plan);
  }

  const highlight = (
    fields: unknown,
    terms: readonly string[],
    phrases: readonly (readonly string[])[] = [],
  ): unknown => {
    const text = Buffer.from(JSON.stringify(fields));
    const plan = highlightPlan(terms, phrases);
    const ends = new Uint32Array(1);
    const bytes = kernel.highlight(text, Uint32Array.of(0, text.length), ends, ['a', 'b'], plan);
    expect([...ends]).toEqual([bytes.length]);
    return bytes.length === 0 ? null : JSON.parse(Buffer.from(bytes).toString());
  };

  test('marks words and phrases in fields and escapes HTML', () => {
    expect(highlight({ a: 'ein Café & <Bar>', b: ['x', 'Cafe'], c: 'cafe' }, ['cafe'])).toEqual({
      a: 'ein <em>Café</em> &amp; &lt;Bar&gt;',
      b: '<em>Cafe</em>',
    });
    expect(highlight({ a: 'new york' }, [], [['new', 'york']])).toEqual({ a: '<em>new</em> <em>york</em>' });
  });

  test('returns nothing for text that needs segmentation, until it is segmented', () => {
    expect(highlight({ a: '我爱中国' }, ['中国'])).toBeNull();
    expect(highlight({ a: '我\u200b爱\u200b中国\u200b' }, ['中国'])).toEqual({ a: '我爱<em>中国</em>' });
  });

  test('marks many records, each in its own range', () => {
    const records = [{ a: 'a cafe' }, { a: '我爱中国' }, { b: 'none' }, { b: 'Café' }].map((one) =>
      JSON.stringify(one),
    );
    const texts = Buffer.from(`>${records.join('|')}<`);
    let begin = 1;
    const ranges = records.flatMap((json) => {
      const range = [begin, begin + Buffer.byteLength(json)];
      begin = (range[1] as number) + 1;
      return range;
    });
    const ends = new Uint32Array(records.length);
    const json = kernel.highlight(texts, Uint32Array.from(ranges), ends, ['a', 'b'], highlightPlan(['cafe']));
    const parts = [...ends].map((end, index) => Buffer.from(json.subarray(ends[index - 1] ?? 0, end)).toString());
    expect(parts).toEqual(['{"a":"a <em>cafe</em>"}', '', '{}', '{"b":"<em>Café</em>"}']);
    expect(kernel.highlight(texts, new Uint32Array(), new Uint32Array(), ['a'], highlightPlan(['cafe']))).toHaveLength(
      0,
    );
  });

  describe('highlightPages', () => {
    const [TO_BE_SEGMENTED, UNREADABLE] = [
      kernelConstant('HighlightToBeSegmented'),
      kernelConstant('HighlightUnreadable'),
    ];
    const [DEFLATED, PLAIN] = [kernelConstant('PageDeflated'), kernelConstant('PagePlain')];
    const BY_DICTIONARY = kernelConstant('PageByDictionary');
    interface Page {
      readonly packed: Uint8Array;
      readonly packing: number;
      readonly textBytes: number;
    }
    const deflated = (packed: Uint8Array): Page => ({ packed, packing: DEFLATED, textBytes: 0 });
    const wordsText = Buffer.from('a cafe, and another cafe x cafe '.repeat(50));
    const words = kernel.learnWords(wordsText, Uint32Array.of(0), Uint32Array.of(wordsText.length));
    const HEADER_BYTES_MAX = 10;
    /** Packs the text with the dictionary at `place` of the list, or plainly if packing does not make it shorter. */
    const byWords = (text: string, place = 0): Page => {
      const bytes = Buffer.from(text);
      const row = bytes.subarray(
        0,
        kernel.packRecords(words, 1, bytes, Uint32Array.of(0), Uint32Array.of(bytes.length)),
      );
      const textBytes = Buffer.byteLength(text);
      if (row.length === textBytes) return { packed: Buffer.from(text), packing: PLAIN, textBytes: 0 };
      // The header: format, record number, number of bytes before the text (0), and number of bytes of the text.
      const begin = [...row.subarray(0, HEADER_BYTES_MAX)].findIndex((byte, at) => at >= 3 && byte < 0x80) + 1;
      return { packed: row.subarray(begin), packing: BY_DICTIONARY + place, textBytes };
    };
    const mark = (
      pages: readonly Page[],
      terms: readonly string[],
      dictionaries = [words],
    ): (string | null | undefined)[] => {
      const ends = new Uint32Array(pages.length);
      let end = 0;
      const numbers = pages.flatMap(({ packed, packing, textBytes }) => [
        end,
        (end += packed.length),
        packing,
        textBytes,
      ]);
      const bytes = kernel.highlightPages(
        Buffer.concat(pages.map(({ packed }) => packed)),
        Uint32Array.from(numbers),
        ends,
        highlightPlan(terms),
        dictionaries,
      );
      let begin = 0;
      return [...ends].map((until) => {
        if (until === TO_BE_SEGMENTED) return null;
        if (until === UNREADABLE) return undefined;
        const json = Buffer.from(bytes.subarray(begin, until)).toString();
        begin = until;
        return json === '' ? '' : (JSON.parse(json) as string);
      });
    };

    test('marks the same as highlight does for the texts in records', () => {
      fc.assert(
        fc.property(
          fc.array(
            fc.oneof(
              fc.string({ unit: 'grapheme' }),
              fc
                .array(fc.constantFrom('cafe', 'Café', '<b>', '"', '我爱', ' ', 'x'.repeat(30_000)))
                .map((all) => all.join(' ')),
            ),
            { maxLength: 5 },
          ),
          (texts) => {
            const packed = texts.map((text) => deflated(text === '' ? Buffer.alloc(0) : deflateRawSync(text)));
            const plain = texts.map((text) => ({ packed: Buffer.from(text), packing: PLAIN, textBytes: 0 }));
            const other = texts.map((text) => byWords(text, 1));
            const expected = texts.map((text) => {
              if (kernel.needsSegmentation(text)) return null;
              return (highlight({ a: text }, ['cafe', 'x']) as { a?: string } | null)?.a ?? '';
            });
            for (const pages of [packed, plain, texts.map((text) => byWords(text))])
              expect(mark(pages, ['cafe', 'x'])).toEqual(expected);
            expect(mark(other, ['cafe', 'x'], [Buffer.from(words), words])).toEqual(expected);
          },
        ),
      );
    });

    test('reports a damaged page as unreadable and marks the next pages', () => {
      const text = 'a cafe, and another cafe';
      const whole = deflateRawSync(text);
      const good = byWords(text);
      expect(good.packing).toBe(BY_DICTIONARY);
      const marked = 'a <em>cafe</em>, and another <em>cafe</em>';
      const goes = (page: Page) => mark([page, good, deflated(whole)], ['cafe']).slice(1);
      for (const page of [
        deflated(whole.subarray(0, -1)),
        deflated(Buffer.concat([whole, Buffer.from('x')])),
        deflated(deflateRawSync(Buffer.alloc((64 << 20) + 1))),
        { ...good, textBytes: good.textBytes + 1 },
        { ...good, textBytes: 2 ** 32 - 1 },
        { ...good, packed: good.packed.subarray(1) },
        { ...good, packing: kernelConstant('PageDamaged') },
      ])
        expect(mark([page, good, deflated(whole)], ['cafe'])).toEqual([undefined, marked, marked]);
      fc.assert(
        fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), fc.nat(400), (bytes, at, textBytes) => {
          const changed = [whole, good.packed].map((from) => {
            const copy = Buffer.from(from);
            copy.set(bytes.subarray(0, 1), at % from.length);
            return copy;
          });
          for (const packed of [bytes, ...changed]) {
            expect(goes(deflated(packed))).toEqual([marked, marked]);
            expect(goes({ packed, packing: BY_DICTIONARY, textBytes })).toEqual([marked, marked]);
            expect(goes({ packed, packing: BY_DICTIONARY, textBytes: good.textBytes })).toEqual([marked, marked]);
          }
        }),
      );
    });

    test('refuses arguments that do not match, and bytes that are no dictionary', () => {
      const call = (numbers: readonly number[], dictionaries: readonly Uint8Array[]) => () =>
        kernel.highlightPages(
          wordsText,
          Uint32Array.from(numbers),
          new Uint32Array(1),
          highlightPlan([]),
          dictionaries,
        );
      expect(call([0, 4, PLAIN, 0], [])).not.toThrow();
      expect(call([0, wordsText.length + 1, PLAIN, 0], [])).toThrow('numbers has to lie within texts');
      expect(call([0, 4, PLAIN], [])).toThrow('numbers has to hold four for each of ends');
      expect(call([0, 4, BY_DICTIONARY + 1, 9], [words])).toThrow('a page names a dictionary that is not given');
      expect(call([0, 4, BY_DICTIONARY, 9], [words.subarray(1)])).toThrow('no dictionary of words');
    });
  });

  test('keeps results unchanged by later calls, and works after the buffer of some results was transferred', () => {
    const plan = highlightPlan(['cafe']);
    const mark = (text: string) => {
      const json = Buffer.from(JSON.stringify({ a: `cafe ${text}` }));
      return kernel.highlight(json, Uint32Array.of(0, json.length), new Uint32Array(1), ['a'], plan);
    };
    const small = Array.from({ length: 1000 }, (_, index) => mark(`n${index} ${'word '.repeat(index % 40)}`));
    // Larger than results that share a buffer with others.
    const text = Buffer.from(JSON.stringify({ a: `cafe ${'word '.repeat(100)}` }));
    const records = 400;
    const ranges = Uint32Array.from({ length: 2 * records }, (_, index) => (index % 2) * text.length);
    const large = kernel.highlight(text, ranges, new Uint32Array(records), ['a'], plan);
    mark('another');
    for (const [index, bytes] of small.entries()) {
      const { a } = JSON.parse(Buffer.from(bytes).toString()) as { a: string };
      expect(a.startsWith(`<em>cafe</em> n${index}`)).toBe(true);
    }
    expect(large.length).toBeGreaterThan(64 * 1024);
    expect(Buffer.from(large).toString().split('<em>cafe</em> word')).toHaveLength(records + 1);
    const buffers = new Set(small.map(({ buffer }) => buffer));
    expect(buffers.size).toBeGreaterThan(1);
    expect(buffers.size).toBeLessThan(10);
    expect(buffers).not.toContain(large.buffer);
    // The transfer detaches the results in that buffer, but later results get a new one.
    structuredClone(small[999]?.buffer, { transfer: [small[999]?.buffer as ArrayBuffer] });
    expect(Buffer.from(mark('at last')).toString()).toBe('{"a":"<em>cafe</em> at last"}');
  });

  test('refuses ranges beyond the texts and a plan that is none', () => {
    const mark = (...ranges: number[]) =>
      kernel.highlight(
        Buffer.from('{"a":"cafe"}'),
        Uint32Array.from(ranges),
        new Uint32Array(1),
        ['a'],
        highlightPlan(['cafe']),
      );
    expect(() => mark(0, 13)).toThrow(new TypeError('ranges has to lie within texts'));
    expect(() => mark(5, 4)).toThrow(new TypeError('ranges has to lie within texts'));
    expect(() => mark(0)).toThrow(new TypeError('ranges has to hold a pair for each of ends'));
    expect(() =>
      kernel.highlight(Buffer.from('{}'), Uint32Array.of(0, 2), new Uint32Array(1), ['a'], Buffer.from('none')),
    ).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  });

  test('returns safe HTML and valid JSON for any record', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'<em>/&"\'\\ acfe\u200b') }),
    );
    fc.assert(
      fc.property(
        text,
        fc.array(fc.string({ unit: fc.constantFrom(...'emacfe') }), { maxLength: 4 }),
        (value, terms) => {
          const result = highlight({ a: value, b: [value, 'cafe'] }, terms) as Record<string, string> | null;
          for (const html of Object.values(result ?? {})) {
            const stripped = html.replaceAll(/<em>([^<>]*)<\/em>/g, '$1').replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '.');
            expect(stripped).not.toMatch(/[<>&"']/);
            expect([...stripped].length).toBeLessThanOrEqual(200);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('lockFile', () => {
  test('gives a lock to one holder at a time', () => {
    const file = path.join(folder, 'lock');
    const lock = kernel.lockFile(file);
    expect(lock).not.toBeNull();
    expect(kernel.lockFile(file)).toBeNull();
    lock?.release();
    lock?.release();
    const again = kernel.lockFile(file);
    expect(again).not.toBeNull();
    again?.release();
    expect(() => kernel.lockFile(path.join(folder, 'none', 'lock'))).toThrow(expect.objectContaining({ code: 'io' }));
  });
});

describe('threads', () => {
  const addon = path.resolve(import.meta.dirname, 'build/Release/gannet_kernel.node');
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const kernel = require(workerData.addon);
    let hits = 0;
    for (let i = 0; i < 300; i += 1) {
      const segment = kernel.openSegment(workerData.file);
      const generation = kernel.publishGeneration({ base: workerData.generation, settings: String(i) });
      hits += kernel.collectRecordNumbers(generation, workerData.plan).length;
      kernel.releaseGeneration(generation);
      hits += kernel.collectRecordNumbers(workerData.generation, workerData.plan).length;
      if (kernel.analyse('Ein Café').length !== 2) throw new Error('analysis');
      if (segment !== workerData.segment) throw new Error('another handle');
      kernel.closeSegment(segment);
    }
    parentPort.postMessage(hits);`;

  test('share segments and generations', async () => {
    const file = build([1, 2, 3]);
    const segment: SegmentHandle = kernel.openSegment(file);
    const generation = kernel.publishGeneration({ add: [{ segment }] });
    const workerData = { addon, file, segment, generation, plan: plan('some') };
    const results = await Promise.all(
      Array.from({ length: 4 }, () => {
        return new Promise((resolve, reject) => {
          new Worker(code, { eval: true, workerData }).on('message', resolve).on('error', reject);
        });
      }),
    );
    expect(results).toEqual([1800, 1800, 1800, 1800]);
    kernel.releaseGeneration(generation);
    kernel.closeSegment(segment);
    expect(() => kernel.recordNumbers(segment)).toThrow(invalid);
  });
});

test('A thread slice outside of 0.1 to 100 ms is refused', () => {
  for (const sliceMs of [0, 0.05, 101, NaN]) {
    expect(() => kernel.setThreadSlice(sliceMs)).toThrow(invalid);
    expect(() => kernel.setSliceOfOtherThreads(sliceMs)).toThrow(invalid);
  }
});
