/** Models of ONNX folders: what they answer, what is reported about unusable folders, and processes that end. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itIsAnEmbedder } from '../../../test/support/embedder-conformance.js';
import {
  BAD_WORD,
  ONNX_DIMENSIONS,
  ONNX_TOKENS_MAX,
  stateOf,
  writeOnnxFolder,
} from '../../../test/support/onnx-folder.js';
import { openedModels } from '../../../test/support/opened-models.js';
import { describeWhere } from '../../../test/support/skip.js';
import { openEnvironment, type LmdbEnvironment } from '../../platform/index.js';
import type { Embedder } from '../../vectors/index.js';
import type { AddedModel, Models } from '../models.js';
import type { OnnxOptions } from '../model-providers.js';
import type { Model } from '../types.js';

const MODEL = 'words';
/** The time before the first process of these tests. */
const BEGAN_MS = Date.now();

let folder: string;
let environment: LmdbEnvironment;
let models: Models;
let deaths: Error[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-onnx-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  deaths = [];
  models = opened();
  writeOnnxFolder(join(folder, MODEL));
});
afterEach(async () => {
  await models.close();
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

function opened(options: Partial<OnnxOptions> = {}): Models {
  return openedModels({ folder, environment, onnx: { onDeath: (error) => deaths.push(error), ...options } });
}

function add(more: Partial<AddedModel> = {}): Promise<Model> {
  return models.add({
    account: 'default',
    name: MODEL,
    provider: 'onnx',
    kind: 'embedding',
    dimensions: null,
    tokens_max: null,
    query_prefix: null,
    document_prefix: null,
    folder: null,
    url: null,
    served_name: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    secret: null,
    ...more,
  });
}
const embedder = () => models.embedder('default', MODEL) as Embedder;
const refused = (why: string) => ({ code: 'unprocessable', detail: expect.stringContaining(why) as string });
/** Characters are tokens of these models, and each text has two special ones around it. */
const countTokens = (text: string) => text.replace(/\s/g, '').length + 2;

/** Returns what the model answers for a text of one word, by the mean of the states of its characters. */
function expected(characters: string, pool: (states: Float32Array[]) => number[] = mean): number[] {
  const tokens = [...characters].map((character, index) => (index === 0 ? character : `##${character}`));
  const vector = pool(['[CLS]', ...tokens, '[SEP]'].map((token) => stateOf(token)));
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
const mean = (states: Float32Array[]) =>
  Array.from({ length: ONNX_DIMENSIONS }, (_, at) => states.reduce((sum, state) => sum + (state[at] ?? 0), 0));

function expectSame(vector: Float32Array | undefined, values: readonly number[]): void {
  expect(vector).toHaveLength(values.length);
  for (const [at, value] of values.entries()) expect(vector?.[at]).toBeCloseTo(value, 5);
}

/** Returns the files that a process has open, if the system tells. */
function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))];
    } catch {
      // The file was closed meanwhile.
      return [];
    }
  });
}

/** Returns the child processes that run models. */
function processes(): number[] {
  const listed = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  return listed.split('\n').flatMap((line) => (line.includes('onnx.worker') ? [Number.parseInt(line, 10)] : []));
}

describe('an ONNX model', () => {
  beforeEach(async () => {
    await add();
  });
  itIsAnEmbedder({ embedder, tokensMax: ONNX_TOKENS_MAX, countTokens });

  it('is added with its dimensions and its number of tokens', async () => {
    expect(models.required('default', MODEL)).toMatchObject({
      dimensions: ONNX_DIMENSIONS,
      tokens_max: ONNX_TOKENS_MAX,
      query_prefix: '',
    });
    expectSame((await embedder().embed(['abc'], 'query'))[0], expected('abc'));
    expect(await models.test('default', MODEL)).toMatchObject({ dimensions: ONNX_DIMENSIONS });
  });

  it('reads as much of a text as it can, and cuts off the rest', async () => {
    const most = 'a'.repeat(ONNX_TOKENS_MAX - 2);
    const [whole, longer] = await embedder().embed([most, `${'a'.repeat(90)} ${'b'.repeat(90)}`], 'query');
    expectSame(whole, expected(most));
    expect(longer).toHaveLength(ONNX_DIMENSIONS);
  });

  it('returns no invalid vector, but an error with the reason', async () => {
    await expect(embedder().embed(['a', BAD_WORD], 'document')).rejects.toThrow('NaN');
    expect(await embedder().embed(['a'], 'document')).toHaveLength(1);
  });

  it('whose files have changed is unavailable until it is updated', async () => {
    const { version } = embedder();
    await models.close();
    writeOnnxFolder(join(folder, MODEL), { seed: 'another', dimensions: 6 });
    models = opened();
    await expect(embedder().embed(['a'], 'document')).rejects.toThrow('gannet model update');
    expect(models.state(models.required('default', MODEL))).toMatchObject({ state: 'unavailable' });
    await expect(models.test('default', MODEL)).rejects.toMatchObject(refused('6 dimensions'));
    await models.change('default', MODEL, {});
    expect(embedder().dimensions).toBe(6);
    expect(embedder().version).not.toBe(version);
    expect(await embedder().embed(['a'], 'document')).toHaveLength(1);
  });

  it('whose folder disappears is reported so, and works again when it is back', async () => {
    await models.close();
    models = opened();
    renameSync(join(folder, MODEL), join(folder, 'away'));
    await expect(embedder().embed(['a'], 'document')).rejects.toMatchObject({
      retry: 'later',
      detail: expect.stringContaining('There is no folder') as string,
    });
    renameSync(join(folder, 'away'), join(folder, MODEL));
    expect(await embedder().embed(['a'], 'document')).toHaveLength(1);
    expect(models.state(models.required('default', MODEL))).toEqual({ state: 'ready' });
  });

  it('answers from another process if one was killed', async () => {
    const [before] = await embedder().embed(['abc'], 'query');
    const running = processes();
    expect(running).not.toEqual([]);
    for (const each of running) process.kill(each, 'SIGKILL');
    // Callers repeat a call that was in progress in a killed process.
    const asked = async () => (await embedder().embed(['abc'], 'query'))[0];
    const after = await asked().catch(asked);
    expect(after).toEqual(before);
    expect(processes()).not.toContain(running[0]);
  });

  it('sends no telemetry: ONNX Runtime keeps no identifier, database or log of its own', async () => {
    await embedder().embed(['abc'], 'query');
    const running = processes();
    expect(running).not.toEqual([]);
    const foreign = running
      .flatMap((pid) => openFiles(pid))
      .filter((path) => /onnxruntime\.db|mat-debug|\.ses$/.test(path));
    expect(foreign).toEqual([]);
    const logs = running.map((pid) => join('/tmp', `mat-debug-${pid}.log`));
    // Logs of other programs stay for ever, and some day one has the number of a process of ours.
    const written = logs.filter((path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= BEGAN_MS);
    expect(written).toEqual([]);
  });

  it('answers searches while its processes for records are halted', async () => {
    await embedder().embed(['a query'], 'query');
    const forSearches = processes();
    await embedder().embed(['a record'], 'document');
    const forRecords = processes().filter((each) => !forSearches.includes(each));
    expect([forSearches, forRecords]).not.toContainEqual([]);
    for (const each of forRecords) process.kill(each, 'SIGSTOP');
    let isEmbedded = false;
    const records = Array.from({ length: 20 }, (_, n) => `a text of a record ${n} and more of it`);
    const embedding = embedder()
      .embed(records, 'document')
      .finally(() => {
        isEmbedded = true;
      });
    try {
      expect(await embedder().embed(['another query'], 'query')).toHaveLength(1);
      expect(isEmbedded).toBe(false);
    } finally {
      for (const each of forRecords) process.kill(each, 'SIGCONT');
    }
    expect(await embedding).toHaveLength(records.length);
  });
});

const REAL = process.env['GANNET_ONNX_MODEL'] ?? join(tmpdir(), 'gannet-bench', 'models', 'minilm-int8');
describeWhere(existsSync(join(REAL, 'model.onnx')), 'there is no MiniLM: node bench/meaning/fetch-model.mjs brings it')(
  'MiniLM',
  () => {
    it('finds texts by meaning that share no words', async () => {
      await models.close();
      models = opened({ folders: dirname(REAL) });
      expect(await add({ folder: basename(REAL) })).toMatchObject({ dimensions: 384, tokens_max: 256 });
      const texts = ['A seabird that plunges for fish', 'How banks set interest', 'Diving birds of the ocean'];
      const [bird, bank, diver] = await embedder().embed(texts, 'document');
      const cosine = (left: ArrayLike<number> = [], right: ArrayLike<number> = []) =>
        Array.from(left).reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
      expect(cosine(bird, diver)).toBeGreaterThan(0.5);
      expect(cosine(bird, bank)).toBeLessThan(0.2);
      // The tokenizer of MiniLM pads to 128 tokens and truncates there; neither must have an effect.
      const long = 'Interest rates rose. '.repeat(80);
      const [first, other] = await embedder().embed([long, `${long} ${texts[0]}`], 'document');
      expect(cosine(first, other)).toBeGreaterThan(0.99);
      const cut = (await embedder().passages([{ title: 'Rates', text: long }]))[0] ?? [];
      expect(cut).toHaveLength(2);
    });
  },
);

describe('an ONNX folder', () => {
  it('can define prefixes, pooling and the number of tokens', async () => {
    const path = join(folder, MODEL);
    mkdirSync(join(path, '1_Pooling'));
    writeFileSync(join(path, '1_Pooling', 'config.json'), JSON.stringify({ pooling_mode_cls_token: true }));
    writeFileSync(join(path, 'sentence_bert_config.json'), JSON.stringify({ max_seq_length: 32 }));
    writeFileSync(
      join(path, 'config_sentence_transformers.json'),
      JSON.stringify({ prompts: { query: 'q: ', document: 'd: ' } }),
    );
    expect(await add()).toMatchObject({ tokens_max: 32, query_prefix: 'q: ', document_prefix: 'd: ' });
    const cls = expected('', ([first]) => [...(first as Float32Array)]);
    expectSame((await embedder().embed(['abc'], 'query'))[0], cls);
    const changed = await models.change('default', MODEL, { query_prefix: '', tokens_max: 16 });
    expect(changed).toMatchObject({ query_prefix: '', tokens_max: 16 });
  });

  it.each([
    ['mean', mean],
    ['max', (states: Float32Array[]) => mean([]).map((_, at) => Math.max(...states.map((state) => state[at] ?? 0)))],
    ['lasttoken', (states: Float32Array[]) => [...(states.at(-1) as Float32Array)]],
  ])('can define the pooling %s', async (name, pool) => {
    const member = { mean: 'pooling_mode_mean_tokens', max: 'pooling_mode_max_tokens' }[name];
    mkdirSync(join(folder, MODEL, '1_Pooling'));
    const config = { [member ?? 'pooling_mode_lasttoken']: true, pooling_mode_cls_token: false };
    writeFileSync(join(folder, MODEL, '1_Pooling', 'config.json'), JSON.stringify(config));
    await add();
    expectSame((await embedder().embed(['gannet'], 'query'))[0], expected('gannet', pool));
  });

  const damages: readonly (readonly [what: string, damage: (path: string) => void, why: string])[] = [
    ['is not there', (path) => rmSync(path, { recursive: true }), 'There is no folder'],
    ['has no graph', (path) => rmSync(join(path, 'model.onnx')), 'no file model.onnx and none onnx/model.onnx'],
    ['has no tokenizer', (path) => rmSync(join(path, 'tokenizer.json')), 'no file tokenizer.json'],
    [
      'has a graph that is cut off',
      (path) => truncateSync(join(path, 'model.onnx'), 300),
      'model.onnx cannot be loaded',
    ],
    ['has an empty graph', (path) => truncateSync(join(path, 'model.onnx'), 0), 'model.onnx'],
    ['has a damaged tokenizer', (path) => truncateSync(join(path, 'tokenizer.json'), 300), 'tokenizer.json cannot be'],
    [
      'has a tokenizer of another kind',
      (path) => writeFileSync(join(path, 'tokenizer.json'), '{"model": {"type": "Magic"}}'),
      'tokenizer.json cannot be used',
    ],
    [
      'has a model of pictures',
      (path) => writeOnnxFolder(path, { inputs: ['pixel_values'] }),
      'asks for pixel_values (int64)',
    ],
    [
      'says that it reads more than it does',
      (path) => writeFileSync(join(path, 'config.json'), JSON.stringify({ max_position_embeddings: 128 })),
      'cannot read a text of 128 tokens',
    ],
    [
      'asks for a pooling that is not known',
      (path) => {
        mkdirSync(join(path, '1_Pooling'));
        writeFileSync(join(path, '1_Pooling', 'config.json'), '{"pooling_mode_weightedmean_tokens": true}');
      },
      'pooling_mode_weightedmean_tokens',
    ],
    [
      'has a step behind its graph',
      (path) => writeFileSync(join(path, 'modules.json'), '[{"type": "sentence_transformers.models.Dense"}]'),
      'models.Dense',
    ],
  ];
  it.each(damages)('that %s is not added, with the reason', async (_what, damage, why) => {
    damage(join(folder, MODEL));
    await expect(add()).rejects.toMatchObject(refused(why));
    expect(models.of('default')).toEqual([]);
  });

  it('whose graph has changed bytes never ends the service', async () => {
    const path = join(folder, MODEL, 'model.onnx');
    const good = readFileSync(path);
    for (let at = 0; at < 40; at++) {
      const bytes = Buffer.from(good);
      bytes[(at * 7919) % bytes.length] = (bytes[(at * 7919) % bytes.length] as number) ^ (1 << (at % 8));
      writeFileSync(path, bytes);
      const added = await add().catch((error: unknown) => error);
      if (added instanceof Error) expect(added).toMatchObject({ code: 'unprocessable' });
      else await models.delete('default', MODEL);
    }
  });

  it('whose model needs too much memory is not added', async () => {
    await models.close();
    models = opened({ memoryMibMax: 32 });
    await expect(add()).rejects.toMatchObject(refused('more than 32 MiB (models.onnx_memory_mib_max)'));
    expect(deaths).not.toEqual([]);
  });

  it('that no model uses has no process', async () => {
    expect(models.of('default')).toEqual([]);
    expect(processes()).toEqual([]);
    await add();
    await models.close();
    expect(processes()).toEqual([]);
  });

  it('can hold a reranker, which scores texts for a query', async () => {
    writeOnnxFolder(join(folder, MODEL), { kind: 'reranker', inputs: ['token_type_ids'] });
    expect(await add({ kind: 'reranker' })).toMatchObject({ kind: 'reranker', dimensions: null });
    const documents = ['a', 'bb', 'a', `${'c '.repeat(100)}`];
    const relevances = await models.reranker('default', MODEL)?.rerank('what', documents);
    expect(relevances).toHaveLength(documents.length);
    expect(relevances?.[0]).toBe(relevances?.[2]);
    expect(relevances?.[0]).not.toBe(relevances?.[1]);
    const tokens = ['[CLS]', 'w', '##h', '##a', '##t', '[SEP]', 'a', '[SEP]'];
    const sum = tokens.reduce((so, token) => so + (stateOf(token)[0] ?? 0), 0);
    expect(relevances?.[0]).toBeCloseTo(sum / tokens.length, 5);
    await expect(add({ name: 'as-vectors', folder: MODEL })).rejects.toMatchObject(refused('no vector'));
  });
});
