import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../platform/metrics.js';
import { answerHead, formatTook } from '../../search/index.js';
import { AnswerCache, type AnsweredSearch } from './answer-cache.js';

const KIB = 1024;
const SEARCH: AnsweredSearch = { term: 'one', hasResults: true, isFirstPage: true };
function body(text: string): Uint8Array {
  return Buffer.from(`${answerHead('first', formatTook(1))},"text":"${text}"}`);
}
const cacheOf = (bytesMax: number) => new AnswerCache({ bytesMax, metrics: createMetrics() });
const read = (cache: AnswerCache, key: string) => {
  const found = cache.get(key, 'second', performance.now());
  return found === undefined ? undefined : (JSON.parse(found.body.toBytes().toString()) as Record<string, unknown>);
};

describe('AnswerCache', () => {
  it('returns an answer with another head', () => {
    const cache = cacheOf(64 * KIB);
    cache.set(['a', 'b'], body('one'), SEARCH);
    for (const key of ['a', 'b']) expect(read(cache, key)).toMatchObject({ query_id: 'second', text: 'one' });
    expect(read(cache, 'c')).toBeUndefined();
    cache.alias('a', 'c');
    cache.alias('missing', 'd');
    expect(read(cache, 'c')).toMatchObject({ text: 'one' });
    expect(read(cache, 'd')).toBeUndefined();
  });

  it('shrinks to no less than a quarter if memory is short, and grows back later', () => {
    const cache = cacheOf(64 * KIB);
    const fill = () => {
      for (let number = 0; number < 1000; number += 1)
        cache.set([`${number} ${cache.bytes}`], body('x'.repeat(500)), SEARCH);
      return cache.bytes / KIB;
    };
    const told = (isShort: boolean) => {
      cache.giveWay(isShort);
      return [cache.bytes / KIB, fill()];
    };
    expect(fill()).toBeGreaterThan(60);
    for (const [isShort, least, most] of [
      [true, 28, 32],
      [true, 14, 16],
      [true, 14, 16],
    ] as const)
      for (const taken of told(isShort)) {
        expect(taken).toBeGreaterThan(least);
        expect(taken).toBeLessThanOrEqual(most);
      }
    for (const most of [32, 64, 64]) {
      const [before = 0, after = 0] = told(false);
      expect(before).toBeLessThanOrEqual(most);
      expect(after).toBeGreaterThan(most - 4);
      expect(after).toBeLessThanOrEqual(most);
    }
  });

  it('returns for each answer the search that it belongs to, under every key', () => {
    const cache = cacheOf(64 * KIB);
    const later: AnsweredSearch = { term: 'red', hasResults: false, isFirstPage: false };
    cache.set(['a'], body('one'), SEARCH);
    cache.set(['b'], body('two'), later);
    cache.alias('b', 'c');
    expect(cache.get('a', 'second', 0)?.search).toEqual(SEARCH);
    expect(cache.get('c', 'second', 0)?.search).toEqual(later);
  });

  it('gives each caller its own bytes', () => {
    const cache = cacheOf(64 * KIB);
    const given = body('one');
    cache.set(['a'], given, SEARCH);
    given.fill(0);
    cache.get('a', 'second', 0)?.body.toBytes().fill(0);
    expect(read(cache, 'a')).toMatchObject({ text: 'one' });
  });

  it('gives each of several concurrent answers its own head', () => {
    const cache = cacheOf(64 * KIB);
    cache.set(['a'], body('one'), SEARCH);
    const bodies = ['second', 'third'].map((id) => cache.get('a', id, performance.now())?.body);
    const sent = [...bodies, ...bodies].map(
      (each) => JSON.parse(Buffer.from(each?.borrow() ?? []).toString()) as unknown,
    );
    const ids = ['second', 'third', 'second', 'third'];
    expect(sent).toEqual(ids.map((id) => expect.objectContaining({ query_id: id, text: 'one' }) as unknown));
  });

  it('has the same time in the body as beside it', () => {
    const cache = cacheOf(64 * KIB);
    cache.set(['a'], body('one'), SEARCH);
    const found = cache.get('a', 'second', performance.now() - 1234);
    expect(Number(found?.tookMs)).toBeGreaterThanOrEqual(1234);
    expect(JSON.parse(found?.body.toBytes().toString() ?? '')).toMatchObject({ took_ms: Number(found?.tookMs) });
  });

  it('keeps nothing if it is off, and no answer that is too large', () => {
    const off = cacheOf(0);
    off.set(['a'], body('one'), SEARCH);
    expect(read(off, 'a')).toBeUndefined();
    const cache = cacheOf(1024 * KIB);
    cache.set(['large'], body('x'.repeat(300_000)), SEARCH);
    expect([read(cache, 'large'), cache.bytes]).toEqual([undefined, 0]);
    const small = cacheOf(2 * KIB);
    small.set(['larger than all'], body('x'.repeat(3000)), SEARCH);
    expect(small.bytes).toBe(0);
  });

  it('keeps frequently used answers while others come and go', () => {
    const cache = cacheOf(64 * KIB);
    cache.set(['often'], body('often'), SEARCH);
    for (let index = 0; index < 1000; ++index) {
      expect(read(cache, 'often')).toBeDefined();
      cache.set([`once ${index}`], body('x'.repeat(1000)), SEARCH);
    }
    expect(read(cache, 'once 999')).toBeDefined();
    expect(read(cache, 'once 0')).toBeUndefined();
  });

  it('stays within its memory and never returns the answer of another key', () => {
    const step = fc.record({
      kind: fc.constantFrom('set', 'get', 'alias'),
      key: fc.nat(30),
      other: fc.nat(30),
      size: fc.nat(3000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const cache = cacheOf(16 * KIB);
        /** The last text that each key was given; keys never get another answer while they are kept. */
        const meaning = new Map<string, string>();
        for (const { kind, key: number, other, size } of steps) {
          const key = `key ${number}`;
          if (kind === 'set' && read(cache, key) === undefined) {
            const text = `${number} ${size} ${'x'.repeat(size)}`;
            cache.set([key], body(text), SEARCH);
            meaning.set(key, text);
          } else if (kind === 'alias') {
            const isFree = read(cache, `alias ${other}`) === undefined;
            cache.alias(key, `alias ${other}`);
            if (isFree && read(cache, `alias ${other}`) !== undefined)
              meaning.set(`alias ${other}`, meaning.get(key) ?? '');
          }
          for (const asked of [key, `alias ${other}`]) {
            const found = read(cache, asked);
            if (found !== undefined && found['text'] !== meaning.get(asked)) return false;
          }
          if (cache.bytes > 16 * KIB || cache.bytes < 0) return false;
        }
        return true;
      }),
      { numRuns: 300 },
    );
  });
});
