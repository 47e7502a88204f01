/**
 * `node bench/meaning/embed.mjs <out> [model folder [collection …]]`: writes vectors of the collections' records and queries, by a model of an ONNX folder (default:
 * that of `fetch-model.mjs minilm`), for `run.mjs own <out>`. A text has one vector of title and text, cut at 256 tokens. Existing files are kept. Prints how long
 * each took. The five collections have 22,249 records and take some ten minutes on two processors.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COLLECTIONS, queriesOf, recordsOf } from '../relevance/collection-files.mjs';
import { modelFolder } from './fetch-model.mjs';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { servedModel } from './served-model.mjs';

const TOKENS_MAX = 256;
const PROCESSES = 2;
const TEXTS_AT_A_TIME = 64;

helpWhereAsked();
const [out, folder = modelFolder('minilm'), ...some] = process.argv.slice(2);
if (out === undefined) {
  process.stderr.write('Usage: node bench/meaning/embed.mjs <out> [model folder [collection …]]\n');
  process.exit(2);
}

async function write(embedder, file, texts, purpose) {
  if (existsSync(file)) return;
  const begun = performance.now();
  const lines = [];
  for (let begin = 0; begin < texts.length; begin += TEXTS_AT_A_TIME) {
    const batch = texts.slice(begin, begin + TEXTS_AT_A_TIME);
    const vectors = await embedder.embed(
      batch.map(({ text }) => text),
      purpose,
    );
    for (const [index, { id }] of batch.entries()) lines.push(JSON.stringify({ id, vector: [...vectors[index]] }));
  }
  writeFileSync(`${file}.unfinished`, `${lines.join('\n')}\n`);
  renameSync(`${file}.unfinished`, file);
  process.stdout.write(`${file}: ${texts.length} in ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
}

mkdirSync(out, { recursive: true });
const models = await servedModel(folder, { processes: PROCESSES, tokensMax: TOKENS_MAX });
try {
  const embedder = models.embedder('bench', 'model');
  for (const name of some.length > 0 ? some : COLLECTIONS) {
    const documents = recordsOf(name).map(({ name: id, fields }) => ({ id, text: `${fields.title}\n${fields.text}` }));
    await write(embedder, join(out, `${name}.queries.ndjson`), queriesOf(name), 'query');
    await write(embedder, join(out, `${name}.corpus.ndjson`), documents, 'document');
  }
} finally {
  await models.close();
}
