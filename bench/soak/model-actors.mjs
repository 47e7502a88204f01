/** Actors that use models besides the permanent ones: transcription, proposals, models that are added, deleted and unavailable, and vectors in files. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCOUNT } from '../end-to-end/lib/service.mjs';
import { vectorOf } from './actors.mjs';
import { PROPOSED } from './outside.mjs';
import { fieldsOf, namesOf, reading, same, until, wordOf } from './tools.mjs';

const TALKS = 'talks';
const ADVISED = 'advised';
const MOODY = 'moody';
const TALKS_KEPT = 20;
const MOODY_RECORDS = 50;
const MODEL_RECORDS = 5;
const FILE_RECORDS = 100;
const ONNX_FOLDER = 'letters';

const RATES = {
  talk: 1 / 20,
  proposal: 1 / 45,
  modelLife: 1 / 60,
  moodyModel: 1 / 120,
  vectorFile: 1 / 90,
  onnxModel: 1 / 120,
};

/** Creates the permanent models and lists. `modelsFolder` has the models of files. */
export async function prepareModels({ send, operate, outside, support, modelsFolder }) {
  const add = (name, more) => operate('POST', `/model/${ACCOUNT}`, { name, url: `${outside.address}/v1`, ...more });
  const served = { provider: 'openai', served_name: 'served' };
  await add('whisper', { kind: 'transcription', ...served });
  await add('writer', { kind: 'chat', ...served });
  await add('moody', { ...served, url: `${outside.address}/moody/v1`, tokens_max: 512 });
  support.writeOnnxFolder(join(modelsFolder, ONNX_FOLDER));
  const make = (name, more) =>
    send('POST', `/list/${ACCOUNT}`, { name, searchable_fields: fieldsOf('title'), ...more });
  await make(TALKS, { resources: [{ name: 'talk', kind: 'audio' }], transcription_model: 'whisper' });
  await make(MOODY, { model: 'moody' });
  await make(ADVISED, {});
  await reading(send).bulk(ADVISED, [
    { name: 'a', title: 'We study magnetic resonance imaging (MRI) of the human brain.' },
    { name: 'b', title: 'The MRI of 2004 was cold.' },
    { name: 'c', title: 'A sofa for three, with cushions.' },
  ]);
}

export function makeModelActors({ send, operate, gannet, outside, support, draw }) {
  const { whole } = draw;
  const read = reading(send);
  let turns = 0;
  const list = (name) => `/list/${ACCOUNT}/${name}`;
  const record = (name, given) => send('POST', `/search-result/${ACCOUNT}/${name}`, given);
  const embedded = (name, count) =>
    until(`${count} records of ${name} have vectors`, async () => {
      const { meaning } = await read.list(name);
      return meaning.embedded === count && meaning.pending === 0;
    });

  async function talk() {
    const number = (turns += 1);
    const word = wordOf(number, 'zs');
    outside.state.said = `Somebody speaks of ${word}`;
    const [name, path] = [`talk-${number % TALKS_KEPT}`, `talks/${number % TALKS_KEPT}.wav`];
    const bytes = support.wavOf({ title: `Talk no. ${number}` });
    await send('PUT', `/media/${ACCOUNT}/default/${path}`, bytes, { type: 'audio/wav' });
    await record(TALKS, { name, fields: { title: `Number ${number}`, talk: `media:default/${path}` } });
    const found = async () => namesOf(await read.exactly(TALKS, word));
    await until(`${name} by what is said in it`, async () => (await found())[0] === name);
    const { resources_state } = await read.list(TALKS);
    same('recordings that could not be read', resources_state.failed, 0);
  }

  async function proposal() {
    const { current_version } = await read.list(ADVISED);
    const inVain = await send('GET', `/search/${ACCOUNT}/${ADVISED}/${current_version}?query=${PROPOSED[0]}`);
    same('what is found without a rule', inVain.json.total_count, 0);
    const { json } = await operate('POST', `/list/synonym-proposals/${ACCOUNT}/${ADVISED}`, {});
    same('who proposes', json.by, 'writer');
    // Searches without hits are known a moment later.
    const terms = json.proposals.map(({ rule }) => rule.terms);
    if (terms.length > 0 && !terms.some((each) => each.join() === PROPOSED.join())) {
      throw new Error(`the model's rule is not among ${JSON.stringify(terms)}`);
    }
    const { candidates } = (await send('GET', `/list/synonym-candidates/${ACCOUNT}/${ADVISED}`)).json;
    same(
      'abbreviations',
      candidates.map(({ abbreviation }) => abbreviation),
      ['MRI'],
    );
    const rule = { kind: 'equivalent', terms: PROPOSED };
    const preview = (await send('POST', `/list/synonym-preview/${ACCOUNT}/${ADVISED}`, rule)).json;
    same('what a rule adds', preview.words[0].added, 1);
    const rules = `/list/synonyms/${ACCOUNT}/${ADVISED}`;
    await send('PUT', rules, { rules: [rule] });
    same('rules', (await send('GET', rules)).json.rules.length, 1);
    same('what is found by the rule', namesOf(await read.search(ADVISED, { query: PROPOSED[0] })), ['c']);
    await send('PUT', rules, { rules: [] });
    same('what is found without it again', namesOf(await read.search(ADVISED, { query: PROPOSED[0] })), []);
  }

  async function modelLife() {
    const [model, name] = [`model-${(turns += 1)}`, `of-model-${turns}`];
    const url = `${outside.address}/v1`;
    const added = { name: model, provider: 'openai', url, served_name: 'one', tokens_max: 512, secret: 'sk-1' };
    await operate('POST', `/model/${ACCOUNT}`, added);
    same('dimensions', (await operate('POST', `/model/${ACCOUNT}/${model}/test`)).json.dimensions, vectorOf('').length);
    await send('POST', `/list/${ACCOUNT}`, { name, searchable_fields: fieldsOf('title'), model });
    const titles = Array.from({ length: MODEL_RECORDS }, (_, at) => `title ${at} of turn ${turns}`);
    await read.bulk(
      name,
      titles.map((title) => ({ name: title, title })),
    );
    await embedded(name, MODEL_RECORDS);
    const { json } = await read.search(name, { query: titles[2] });
    same('the record of a text', json.results[0].name, titles[2]);
    await operate('PUT', `/model/${ACCOUNT}/${model}`, { served_name: 'two', secret: 'sk-2' });
    same('a model that was changed', (await operate('GET', `/model/${ACCOUNT}/${model}`)).json.used_by, [name]);
    await operate('DELETE', `/model/${ACCOUNT}/${model}`, undefined, [409]);
    await send('PUT', list(name), { model: null });
    same('what is found without it', (await read.exactly(name, 'title')).json.total_count, MODEL_RECORDS);
    await send('DELETE', list(name));
    await operate('DELETE', `/model/${ACCOUNT}/${model}`);
    await operate('GET', `/model/${ACCOUNT}/${model}`, undefined, [404]);
  }

  const inMoody = new Set();
  async function moodyModel() {
    outside.state.isAway = true;
    const [name, word] = [`record-${whole(MOODY_RECORDS)}`, wordOf((turns += 1), 'zo')];
    try {
      await record(MOODY, { name, fields: { title: `It is about ${word}` } });
      inMoody.add(name);
      same('what is found by words while the model is away', namesOf(await read.exactly(MOODY, word)), [name]);
      await until('a model that is away is told', async () => (await read.list(MOODY)).meaning.state === 'failing');
    } finally {
      outside.state.isAway = false;
    }
    await send('POST', `/list/embed-retry/${ACCOUNT}/${MOODY}`);
    await embedded(MOODY, inMoody.size);
  }

  async function vectorFile() {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-soak-vectors-'));
    const number = (turns += 1);
    const list = `of-file-${number}`;
    try {
      const [names, npy, csv, out] = ['names.csv', 'in.npy', 'out.csv', 'out.npy'].map((name) => join(folder, name));
      const records = Array.from({ length: FILE_RECORDS }, (_, at) => `f${at}`);
      writeFileSync(names, ['name', ...records, ''].join('\n'));
      writeFileSync(npy, support.npyOf(records.map((name) => vectorOf(`${name} ${number}`))));
      await gannet('import', names, '--npy', npy, '--list', list, '--create');
      const { json } = await read.search(list, { vector: vectorOf(`f7 ${number}`) });
      same('the record of a vector', json.results[0].name, 'f7');
      await gannet('export', '--list', list, '--format', 'csv', '-o', csv, '--npy', out);
      same('names that come out', readFileSync(csv, 'utf8'), readFileSync(names, 'utf8'));
      same('vectors that come out', support.floatsOf(out), support.floatsOf(npy));
      await send('DELETE', `/list/${ACCOUNT}/${list}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Adds and deletes a model in a folder, whose processes start and end with it. */
  async function onnxModel() {
    const [model, name] = [`onnx-${(turns += 1)}`, `of-onnx-${turns}`];
    await operate('POST', `/model/${ACCOUNT}`, { name: model, provider: 'onnx', folder: ONNX_FOLDER });
    await send('POST', `/list/${ACCOUNT}`, { name, searchable_fields: fieldsOf('title'), model });
    await read.bulk(
      name,
      ['gannet', 'cormorant', 'puffin'].map((title) => ({ name: title, title })),
    );
    await embedded(name, 3);
    const { json } = await read.search(name, { query: 'puffin' });
    same('the record of a word', json.results[0].name, 'puffin');
    await send('DELETE', list(name));
    await operate('DELETE', `/model/${ACCOUNT}/${model}`);
  }

  return { actions: { talk, proposal, modelLife, moodyModel, vectorFile, onnxModel }, rates: RATES };
}
