/**
 * Each provider that is called over the network meets the same requirements: what it may answer, and what follows from
 * it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { answering, scriptedVector, startScriptedModel, wellBehaved } from '../../test/support/scripted-model.js';
import type { ScriptedServer } from '../../test/support/scripted-server.js';
import { itIsAnEmbedder } from '../../test/support/embedder-conformance.js';
import { openedModels } from '../../test/support/opened-models.js';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import { openEnvironment, Secret, type LmdbEnvironment } from '../platform/index.js';
import { checkedRelevances, checkedVectors } from './checked-answers.js';
import type { Embedder, Reranker } from '../vectors/index.js';
import { ANSWER_BYTES_MAX } from './json-service.js';
import { ModelError } from './model-error.js';
import type { Models, ModelsOptions } from './models.js';
import { estimateTokens } from './passages.js';
import { endpointOf, textsPerAnswer } from './remote-models.js';
import type { Model } from './types.js';

let folder: string;
let environment: LmdbEnvironment;
let server: ScriptedServer;
let timers: SimulatedTimers;
let models: Models;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-models-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  server = await startScriptedModel();
  timers = new SimulatedTimers();
  models = opened();
});
afterEach(async () => {
  await models.close();
  await environment.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function opened(settings: Partial<ModelsOptions['settings']> = {}): Models {
  return openedModels({ folder, environment, settings, timers, loopback: true, modelsMax: 2 });
}

const SECRET = 'sk-very-secret';
const TOKENS_MAX = 64;
/** JSON that can be parsed, but is too deep to be serialized again. */
const DEEP = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;

function settings(
  provider: 'openai' | 'rerank',
): Omit<Model, 'fingerprint' | 'created_utc' | 'modified_utc' | 'secret' | 'inputs' | 'pictures'> {
  return {
    account: 'default',
    name: provider,
    provider,
    kind: provider === 'openai' ? 'embedding' : 'reranker',
    dimensions: null,
    tokens_max: TOKENS_MAX,
    query_prefix: 'query: ',
    document_prefix: 'passage: ',
    url: server.url(),
    folder: null,
    served_name: 'served',
    requests_per_minute: null,
    tokens_per_minute: null,
  };
}
const add = (provider: 'openai' | 'rerank', more: Partial<Model> = {}) =>
  models.add({ ...settings(provider), ...more, secret: new Secret(SECRET) });

const embedder = () => models.embedder('default', 'openai') as Embedder;
const reranker = () => models.reranker('default', 'rerank') as Reranker;

/** How each provider is called, and how an answer with given numbers looks. */
const PROVIDERS = [
  {
    provider: 'openai' as const,
    ask: (signal?: AbortSignal): Promise<unknown> => embedder().embed(['a', 'bb'], 'document', signal),
    answerOf: (values: readonly unknown[]) =>
      JSON.stringify({ data: values.map((value, index) => ({ index, embedding: [value, 1, 1, 1] })) }),
  },
  {
    provider: 'rerank' as const,
    ask: (signal?: AbortSignal): Promise<unknown> => reranker().rerank('q', ['a', 'bb'], signal),
    answerOf: (values: readonly unknown[]) =>
      JSON.stringify({ results: values.map((value, index) => ({ index, relevance_score: value })) }),
  },
];

describe.each(PROVIDERS)('a model of the provider $provider', ({ provider, ask, answerOf }) => {
  it('is called with its secret in the header, which is nowhere on disk', async () => {
    await add(provider);
    await ask();
    expect(server.asked.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
    for (const file of readdirSync(join(folder, 'system'))) {
      expect(readFileSync(join(folder, 'system', file)).includes(SECRET)).toBe(false);
    }
    await models.close();
    models = opened();
    await ask();
    expect(server.asked.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  it.each([
    ['a page of HTML', answering(200, '<html>Welcome</html>', { 'content-type': 'text/html' }), 'later', 'text/html'],
    ['nothing', answering(200, ''), 'later', 'not JSON'],
    ['another form', answering(200, '{"object": "list"}'), 'later', 'no '],
    ['too few', answering(200, answerOf([1])), 'later', '1 '],
    ['too many', answering(200, answerOf([1, 2, 3])), 'later', ' '],
    ['no numbers', answering(200, answerOf([1, 'NaN'])), 'later', '"NaN"'],
    ['numbers beyond all', answering(200, answerOf([1, 77]).replace('77', '1e999')), 'later', 'Infinity'],
    ['an error of its own', answering(500, '{"error": {"message": "out of memory"}}'), 'later', 'out of memory'],
    ['no entry', answering(401, `{"error": "wrong key ${SECRET}"}`), 'later', 'wrong key [secret]'],
    ['a refusal of the text', answering(422, '{"detail": "too long"}'), 'never', 'too long'],
    [
      'more members than any answer has',
      answering(200, answerOf([1, 2]).replace(/\}$/, `, "more": {${'"a": 1, '.repeat(200_001)}"b": 1}}`)),
      'later',
      'more than ',
    ],
    [
      'more values than vectors of two texts have',
      answering(200, answerOf([1, 2]).replace(/\}$/, `, "more": [${'"a",'.repeat(1_000_001)}1]}`)),
      'later',
      'more than ',
    ],
    ['a list where a number is', answering(200, answerOf([1, 77]).replace('77', DEEP)), 'later', 'a list'],
    [
      'about something else',
      answering(200, answerOf([1, 2]).replace('"index":1', `"index":"${'x'.repeat(5000)}"`)),
      'later',
      'xxxxx',
    ],
    [
      'about nothing that can be said',
      answering(200, answerOf([1, 2]).replace('"index":1', `"index":${DEEP}`)),
      'later',
      'a list',
    ],
    ['more objects', answering(200, `[${'{},'.repeat(100_001)}{}]`), 'later', 'more than '],
    ['more bytes than it was asked for', answering(200, answerOf([1, 2]) + ' '.repeat(1_000_000)), 'later', ' bytes'],
    ['an error without end', answering(500, `{"error": "broken", "of": "${'x'.repeat(70_000)}"}`), 'later', '{"error"'],
    ['a redirect', answering(302, '', { location: 'https://example.com/' }), 'later', '302'],
  ])('that answers %s is reported as an error with the reason', async (_what, script, retry, why) => {
    await add(provider);
    server.script = script;
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ retry });
    expect((error as ModelError).detail).toContain(why);
    expect((error as ModelError).detail).not.toContain(SECRET);
    expect((error as ModelError).detail.length).toBeLessThan(500);
    const state = models.state(models.required('default', provider));
    expect(state.state).toBe(retry === 'later' ? 'unavailable' : 'ready');
    server.script = wellBehaved;
    await ask();
    expect(models.state(models.required('default', provider))).toEqual({ state: 'ready' });
  });

  it('is paused for as long as its Retry-After says', async () => {
    await add(provider);
    server.script = answering(429, '{}', { 'retry-after': '20' });
    await expect(ask()).rejects.toMatchObject({ retry: 'later', retryAfterMs: 20_000 });
    server.script = wellBehaved;
    const asked = server.asked.length;
    await expect(ask()).rejects.toMatchObject({ retry: 'later' });
    expect(server.asked).toHaveLength(asked);
    await timers.pass(20_000, () => Promise.resolve());
    await ask();
  });

  it('is not called again and again while it is down', async () => {
    await add(provider);
    server.script = (_asked, response) => response.destroy();
    for (let call = 0; call < 20; call++) await expect(ask()).rejects.toBeInstanceOf(ModelError);
    expect(server.asked.length).toBeLessThan(10);
    server.script = wellBehaved;
    await timers.pass(60_000, () => Promise.resolve());
    await ask();
  });

  it('is not considered failed if a call is aborted', async () => {
    await add(provider);
    const left = new AbortController();
    server.script = () => {
      left.abort(new Error('left'));
    };
    await expect(ask(left.signal)).rejects.toThrow('left');
    server.script = wellBehaved;
    expect(models.state(models.required('default', provider))).toEqual({ state: 'ready' });
  });

  it('is called no more often in a minute than its limit allows', async () => {
    await add(provider, { requests_per_minute: 2 });
    const asked = server.asked.length;
    await ask();
    await ask();
    let isAnswered = false;
    const third = ask().then(() => (isAnswered = true));
    await timers.pass(59_000, () => new Promise((resolve) => setImmediate(resolve)));
    expect(server.asked).toHaveLength(asked + 2);
    expect(isAnswered).toBe(false);
    await timers.pass(2000, () => new Promise((resolve) => setImmediate(resolve)));
    await third;
  });

  it('is not added if it does not answer or its address is forbidden', async () => {
    server.script = answering(404, '{"error": "no such model"}');
    await expect(add(provider)).rejects.toMatchObject({
      code: 'unprocessable',
      detail: expect.stringContaining('no such model') as string,
    });
    const inside = { url: 'https://10.0.0.1/v1' };
    await expect(add(provider, inside)).rejects.toMatchObject({ code: 'invalid-parameter' });
    expect(models.of('default')).toEqual([]);
  });
});

describe('the embedder of the provider openai', () => {
  beforeEach(async () => {
    await add('openai', { tokens_max: TOKENS_MAX });
  });
  itIsAnEmbedder({ embedder, tokensMax: TOKENS_MAX, countTokens: estimateTokens });
});

describe('an embedding model', () => {
  it('returns vectors of length 1 in the order of the texts, in batches, with the prefix of their purpose', async () => {
    await add('openai');
    const texts = ['one', 'three', 'five', 'seven'];
    const vectors = await embedder().embed(texts, 'document');
    const inputs = server.asked.slice(-2).map(({ body }) => (JSON.parse(body) as { input: string[] }).input);
    expect(inputs).toEqual([['passage: one', 'passage: three', 'passage: five'], ['passage: seven']]);
    for (const [index, vector] of vectors.entries()) {
      const raw = scriptedVector(`passage: ${texts[index] as string}`);
      const length = Math.hypot(...raw);
      for (const [at, value] of vector.entries()) expect(value).toBeCloseTo((raw[at] as number) / length, 5);
    }
    const [query] = await embedder().embed(['one'], 'query');
    expect(query).not.toEqual(vectors[0]);
  });

  it.each([
    ['more dimensions than a record may have', JSON.stringify(new Array(8193).fill(0.5)), '8192'],
    ['texts', '["0.1", "0.2"]', '"0.1"'],
    ['numbers beyond all', '[1e999, 1]', 'Infinity'],
    ['no direction', '[0, 0]', 'without a direction'],
    ['more than one', '[1, 0]}, {"embedding": [1, 0]', '2 vectors to 1'],
  ])('is not added if it answers with %s', async (_what, embedding, why) => {
    server.script = answering(200, `{"data": [{"embedding": ${embedding}}]}`);
    await expect(add('openai')).rejects.toThrow(why);
  });

  it('that changes its dimensions is unavailable with the reason, until it is updated', async () => {
    await add('openai');
    const version = embedder().version;
    server.script = ({ body }, response) => {
      const { input } = JSON.parse(body) as { input: string[] };
      response.end(JSON.stringify({ data: input.map((text) => ({ embedding: scriptedVector(text, 6) })) }));
    };
    await expect(embedder().embed(['a'], 'document')).rejects.toThrow('6 dimensions; it had 4');
    expect(models.state(models.required('default', 'openai'))).toMatchObject({ state: 'unavailable' });
    await expect(models.test('default', 'openai')).rejects.toMatchObject({ code: 'unprocessable' });
    const told: string[] = [];
    models.onChange((_account, name) => told.push(name));
    await models.change('default', 'openai', {});
    expect(told).toEqual(['openai']);
    expect(embedder().dimensions).toBe(6);
    expect(embedder().version).not.toBe(version);
    expect(await embedder().embed(['a'], 'document')).toHaveLength(1);
  });

  it('keeps its version if its secret or budget changes', async () => {
    await add('openai');
    const { version } = embedder();
    await models.change('default', 'openai', { secret: new Secret('another'), requests_per_minute: 7 });
    expect(embedder().version).toBe(version);
    await models.change('default', 'openai', { document_prefix: '' });
    expect(embedder().version).not.toBe(version);
  });

  it('embeds a search text once for concurrent searches, and their texts in one call', async () => {
    await add('openai');
    const asked = server.asked.length;
    const texts = ['a', 'b', 'a', 'a', 'c'];
    const vectors = await Promise.all(texts.map((text) => models.queries.vectorOf(embedder(), text)));
    expect(server.asked).toHaveLength(asked + 1);
    expect(vectors[0]).toBe(vectors[2]);
    expect(await models.queries.vectorOf(embedder(), 'b')).toBe(vectors[1]);
    expect(server.asked).toHaveLength(asked + 1);
  });

  it('embeds the other search texts of a call if it refuses one', async () => {
    await add('openai');
    server.script = (asked, response) => {
      if (asked.body.includes('bad')) answering(400, '{"error": "no"}')(asked, response);
      else wellBehaved(asked, response);
    };
    const [good, bad] = await Promise.allSettled(
      ['good', 'bad'].map((text) => models.queries.vectorOf(embedder(), text)),
    );
    expect(good).toMatchObject({ status: 'fulfilled' });
    expect(bad).toMatchObject({ status: 'rejected', reason: { retry: 'never' } });
  });

  it('is refused if the account has the most models or the name exists', async () => {
    await add('openai');
    await expect(add('openai')).rejects.toMatchObject({ code: 'name-exists' });
    await add('rerank');
    await expect(models.add({ ...settings('openai'), name: 'third', secret: null })).rejects.toMatchObject({
      code: 'conflict',
    });
    await models.delete('default', 'rerank');
    expect(models.reranker('default', 'rerank')).toBeUndefined();
    expect(models.embedder('default', 'rerank')).toBeUndefined();
  });

  it('is deleted with its account, together with its state and secret', async () => {
    const own = [await add('openai'), await add('rerank')];
    server.script = answering(401, '{}');
    for (const { ask } of PROVIDERS) await expect(ask()).rejects.toThrow(ModelError);
    const states = () => own.map((model) => models.state(model).state);
    expect(states()).toEqual(['unavailable', 'unavailable']);
    await models.forget('default');
    expect(models.of('default')).toEqual([]);
    // The clients that knew of the failures are gone.
    expect(states()).toEqual(['ready', 'ready']);
  });
});

describe('a model that never answers', () => {
  /** Reopens the models with a server that accepts requests but never answers. */
  async function hanging(more: Partial<ModelsOptions['settings']>): Promise<void> {
    await models.close();
    models = opened(more);
    server.script = () => undefined;
    server.asked.splice(0);
  }
  const stateOf = (name: string) => models.state(models.required('default', name));

  it('is paused as a reranker after a few searches, which then do not wait any more', async () => {
    await add('rerank');
    await hanging({ reranker_ms: 100 });
    const errors: unknown[] = [];
    for (let call = 0; call < 20; call += 1)
      errors.push(
        await reranker()
          .rerank('q', ['a', 'b'])
          .catch((e: unknown) => e),
      );
    expect(errors[0]).toMatchObject({ detail: 'The model did not answer within 100 ms.', retry: 'later' });
    expect(errors.at(-1)).toMatchObject({ detail: expect.stringContaining('left alone') as string });
    expect(server.asked.length).toBeLessThan(10);
    expect(stateOf('rerank')).toMatchObject({ state: 'unavailable' });
    server.script = wellBehaved;
    await models.close();
    models = opened();
    expect(await reranker().rerank('q', ['a', 'b'])).toHaveLength(2);
  });

  it('is paused as an embedder when its calls time out, even if their searches continued without it', async () => {
    await add('openai');
    await hanging({ call_seconds: 0.2, query_ms: 20 });
    for (let call = 0; call < 5; call += 1)
      await expect(models.embedQuery(embedder(), `text ${call}`)).rejects.toThrow('within 20 ms');
    const under = Array.from({ length: 5 }, (_, n) => models.queries.vectorOf(embedder(), `text ${n}`));
    for (const end of await Promise.allSettled(under)) expect(end.status).toBe('rejected');
    server.asked.splice(0);
    await expect(models.queries.vectorOf(embedder(), 'another')).rejects.toThrow('left alone');
    expect(server.asked).toEqual([]);
  });

  it('is not considered failed if its budget left it no time', async () => {
    await add('rerank', { requests_per_minute: 1 });
    await hanging({ reranker_ms: 60_000 });
    // The first request of the minute is sent at once.
    server.script = wellBehaved;
    await reranker().rerank('q', ['a', 'b']);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    // The budget leaves the model a tenth of the time, which is over when the request arrives.
    server.script = () => void vi.advanceTimersByTime(6000);
    const waiting = expect(reranker().rerank('q', ['a', 'b'])).rejects.toThrow('within 60000 ms');
    vi.advanceTimersByTime(54_000);
    await timers.pass(60_000, () => Promise.resolve());
    await waiting;
    expect(stateOf('rerank')).toEqual({ state: 'ready' });
  });
});

it('A reranker that accepts texts instead of documents gets texts from then on', async () => {
  server.script = (asked, response) => {
    const { texts } = JSON.parse(asked.body) as { texts?: string[] };
    if (texts === undefined) answering(422, '{"error": "missing field texts"}')(asked, response);
    else response.end(JSON.stringify(texts.map((text, index) => ({ index, score: -text.length }))));
  };
  await add('rerank');
  const asked = server.asked.length;
  expect(await reranker().rerank('q', ['aa', 'b'])).toEqual([-2, -1]);
  expect(await reranker().rerank('q', ['aa', 'b'])).toEqual([-2, -1]);
  expect(server.asked).toHaveLength(asked + 3);
});

it('endpointOf returns the URL of the endpoint, whatever part of it was given', () => {
  for (const url of ['https://h', 'https://h/', 'https://h/v1', 'https://h/v1/embeddings']) {
    expect(endpointOf(url, '/v1/embeddings')).toBe('https://h/v1/embeddings');
  }
  for (const url of ['https://h/v2', 'https://h/v2/rerank/'])
    expect(endpointOf(url, '/rerank')).toBe('https://h/v2/rerank');
});

describe('checked answers', () => {
  const DIMENSIONS = 2;
  /** Most values are as in a right answer, so that many answers are accepted. */
  const mostly = (right: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: fc.anything() });
  const number = mostly(fc.float());
  const ofDimensions = { minLength: DIMENSIONS, maxLength: DIMENSIONS };
  const vector = mostly(fc.oneof(fc.array(number, ofDimensions), fc.float32Array(ofDimensions)));
  const answer = fc.nat(3).chain((count) => {
    const all = { minLength: count, maxLength: count };
    const index = fc.shuffledSubarray([0, 1, 2].slice(0, count), all);
    return fc.record({
      count: fc.oneof({ weight: 12, arbitrary: fc.constant(count) }, { weight: 1, arbitrary: fc.nat(3) }),
      vectors: fc.array(vector, all),
      relevances: index.chain((indexes) =>
        fc.tuple(...indexes.map((each) => fc.record({ index: mostly(fc.constant(each)), relevance: number }))),
      ),
    });
  });

  it('have the wanted number of finite values, and vectors of length 1, or are refused with a ModelError', () => {
    const accepted = { vectors: 0, relevances: 0 };
    const unlessRefused = (check: () => void) => {
      try {
        check();
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
      }
    };
    fc.assert(
      fc.property(answer, ({ count, vectors, relevances }) => {
        unlessRefused(() => {
          const checked = checkedVectors(vectors, { count, dimensions: DIMENSIONS });
          expect(checked).toHaveLength(count);
          for (const each of checked) {
            expect(each).toHaveLength(DIMENSIONS);
            expect(Math.hypot(...each)).toBeCloseTo(1, 5);
          }
          accepted.vectors += count;
        });
        unlessRefused(() => {
          const checked = checkedRelevances(relevances, count);
          expect(checked).toHaveLength(count);
          for (const each of relevances) expect(checked[each.index as number]).toBe(each.relevance);
          expect(checked.every(Number.isFinite)).toBe(true);
          accepted.relevances += count;
        });
      }),
      // The square of this number has lost its digits.
      { examples: [[{ count: 1, vectors: [[3e-162, 0]], relevances: [] }]] },
    );
    expect(accepted.vectors).toBeGreaterThan(0);
    expect(accepted.relevances).toBeGreaterThan(0);
  });
});

it.each([8, 1024, 3072, 8192])(
  'The texts of one request fit with vectors of %i numbers into the largest answer that is read',
  (dimensions) => {
    const texts = textsPerAnswer(dimensions);
    const number = ' '.repeat(12) + '-1.2345678901234567e-7,\n';
    expect(texts * dimensions * number.length).toBeLessThan(ANSWER_BYTES_MAX);
    expect(texts).toBeGreaterThan(200);
  },
);
