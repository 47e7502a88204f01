/** Conformance tests of every provider of vectors. `embedder` is as lists and searches use it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { QueryEmbeddings } from '../../src/models/query-embeddings.js';
import type { Embedder } from '../../src/vectors/index.js';

export interface ConformingEmbedder {
  readonly embedder: () => Embedder;
  /** Limit of the model, and the number of tokens in a text. */
  readonly tokensMax: number;
  readonly countTokens: (text: string) => number;
}

const CACHE_BYTES = 2 ** 20;

export function itIsAnEmbedder({ embedder, tokensMax, countTokens }: ConformingEmbedder): void {
  const lengthOf = (vector: Float32Array) => Math.hypot(...vector);

  it('gives a vector of length 1 for each text in order, and equal vectors for equal texts', async () => {
    const texts = ['one', 'another text', 'one', 'x', 'a third text of several words, which is longer'];
    const vectors = await embedder().embed(texts, 'document');
    expect(vectors).toHaveLength(texts.length);
    for (const [index, vector] of vectors.entries()) {
      expect(vector).toHaveLength(embedder().dimensions);
      expect(lengthOf(vector)).toBeCloseTo(1, 5);
      expect(vector).toEqual((await embedder().embed([texts[index] as string], 'document'))[0]);
    }
    expect(vectors[0]).toEqual(vectors[2]);
    expect(vectors[0]).not.toEqual(vectors[1]);
    expect(await embedder().embed([], 'document')).toEqual([]);
  });

  it('cuts long texts into passages that fit the model, each beginning with the title', async () => {
    const text = Array.from({ length: 60 }, (_, n) => `sentence ${n} says a little more.`).join(' ');
    const [cut = [], short = [], none = []] = await embedder().passages([
      { title: 'the title', text },
      { title: 'short', text: '' },
      { title: '', text: ' ' },
    ]);
    expect(cut.length).toBeGreaterThan(1);
    for (const passage of cut) {
      expect(passage.startsWith('the title')).toBe(true);
      expect(countTokens(passage)).toBeLessThanOrEqual(tokensMax);
    }
    for (const word of ['sentence 0 says', 'sentence 59 says']) expect(cut.join(' ')).toContain(word);
    expect(short).toEqual(['short']);
    expect(none).toEqual([]);
    expect(await embedder().embed(cut, 'document')).toHaveLength(cut.length);
  });

  it('embeds any text', async () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        for (const vector of await embedder().embed(some, 'query')) expect(lengthOf(vector)).toBeCloseTo(1, 5);
        await embedder().passages(some.map((text) => ({ title: text.slice(0, 10), text })));
      }),
      { numRuns: 30 },
    );
  });

  it('embeds a query once for all simultaneous searches', async () => {
    let calls = 0;
    const counted: Embedder = {
      ...plain(embedder()),
      embed: (texts, purpose) => {
        calls += texts.length;
        return embedder().embed(texts, purpose);
      },
    };
    const queries = new QueryEmbeddings({ bytesMax: CACHE_BYTES });
    const vectors = await Promise.all(Array.from({ length: 100 }, (_, n) => queries.vectorOf(counted, `q${n % 2}`)));
    expect(calls).toBe(2);
    expect(new Set(vectors).size).toBe(2);
    expect(await queries.vectorOf(counted, 'q1')).toBe(vectors[1]);
    expect(calls).toBe(2);
  });

  it('stops if the caller has cancelled', async () => {
    const left = new AbortController();
    left.abort(new Error('left'));
    await expect(embedder().embed(['a text of nobody'], 'document', left.signal)).rejects.toThrow('left');
    expect(await embedder().embed(['a text'], 'document')).toHaveLength(1);
  });
}

function plain(embedder: Embedder): Embedder {
  return {
    version: embedder.version,
    dimensions: embedder.dimensions,
    batchTexts: embedder.batchTexts,
    passages: (texts) => embedder.passages(texts),
    embed: (texts, purpose, signal) => embedder.embed(texts, purpose, signal),
  };
}
