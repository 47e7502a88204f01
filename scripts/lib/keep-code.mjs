/**
 * Keeps the compiled code of the bundle beside it, in its folder `code`, for bin/load-bundle.cjs: runs the service on an empty folder and some
 * commands, has them do what most do, and takes the code of all that was called meanwhile. Each flag of V8 that a tuned service
 * has makes other code; so there is a folder for each tuning.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startProgram } from './children.mjs';
import { filesUnder } from './stamps.mjs';
import { isProgram, run } from './steps.mjs';

const RECORDER = fileURLToPath(new URL('record-code.cjs', import.meta.url));
/** What hangs is given up. */
const MS_MAX = 120_000;
const LOOK_MS = 20;
const COMMANDS = [['--version'], ['--help'], ['key', 'list'], ['list'], ['settings']];

const LIST = {
  name: 'animals',
  searchable_fields: [{ name: 'name' }, { name: 'text' }],
  facets: [{ name: 'legs', type: 'number' }],
};
const RECORD = { name: 'heron', fields: { name: 'Grey heron', text: 'waits in the reeds', legs: 2 } };
const SEARCH = '/search/default/animals/1';

/** Rejects where code cannot be taken; what was kept before is gone then, and starts take longer. */
export async function keepCode(root) {
  const kept = join(root, 'dist', 'bundle', 'code');
  const taken = `${kept}.unfinished`;
  for (const folder of [kept, taken]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(taken);
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-keep-code-'));
  const remove = () => {
    for (const folder of [taken, dataDir]) rmSync(folder, { recursive: true, force: true });
  };
  // Also where it is ended amid that.
  process.once('exit', remove);
  try {
    await recordCode({ root, taken, dataDir });
    putTogether(taken);
    renameSync(join(taken, 'together'), kept);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

async function recordCode({ root, taken, dataDir }) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:GANNET_|NODE_OPTIONS$)/.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    GANNET_DATA_DIR: dataDir,
    GANNET_HOST: '127.0.0.1',
    GANNET_PORT: '0',
    GANNET_LOG_LEVEL: 'fatal',
    GANNET_SEARCH_THREADS: '1',
    RECORDED_PACKAGE: root,
    RECORDED_CODE_FOLDER: taken,
  };
  const command = (...words) => ['--require', RECORDER, join(root, 'bin', 'gannet.js'), ...words];
  const child = startProgram(process.execPath, command('serve'), {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let notes = '';
  child.stderr.on('data', (chunk) => (notes += chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), MS_MAX);
  const ended = new Promise((resolve) => {
    child.once('close', resolve);
    child.once('error', resolve);
  });
  try {
    const failed = ended.then((code) => Promise.reject(new Error(`the service ended: ${notes.trimEnd() || code}`)));
    await Promise.race([failed, useService(child, { taken, dataDir })]);
    for (const words of COMMANDS) await run(process.execPath, command(...words), { cwd: root, env });
  } finally {
    child.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  }
}

/** What most services are asked for; then for the code of it. */
async function useService(child, { taken, dataDir }) {
  const address = await addressOf(child);
  const socketPath = join(dataDir, 'control.sock');
  const operator = { socketPath, key: undefined };
  await call(operator, 'POST', '/list/default', LIST);
  const { key } = await call(operator, 'POST', '/api-key/default', { name: 'code', access: 'full' });
  const server = { host: '127.0.0.1', port: new URL(address).port, key };
  await call(server, 'GET', '/openapi.json');
  const write = () => call(server, 'POST', '/search-result/default/animals', RECORD);
  const search = () => call(server, 'POST', SEARCH, { query: 'heron', facets: ['legs'], cache: false });
  await write();
  await search();
  await call(server, 'GET', `${SEARCH}?query=heron`);
  await call(server, 'GET', '/search-result/default/animals?size=1');
  await call(server, 'GET', '/list/default/animals');
  const threads = () => readdirSync(taken).filter((name) => name.startsWith(`${child.pid}-`));
  writeFileSync(join(taken, 'asked'), '');
  // Threads that wait for work look when there is some.
  await write();
  await search();
  while (!threads().every((name) => existsSync(join(taken, name, 'done')))) await wait(LOOK_MS);
  // Commands are asked by nobody but write at their end: one that is slow would else do so before it has loaded everything.
  rmSync(join(taken, 'asked'));
}

function addressOf(child) {
  return new Promise((resolve) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const address = /ready on (http:\/\/\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
}

function call({ key, ...where }, method, path, body) {
  const headers = {
    ...(key === undefined ? {} : { 'x-api-key': key }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ ...where, method, path, headers, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += chunk));
      answer.on('end', () => {
        if (answer.statusCode < 300) resolve(JSON.parse(text));
        else reject(new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Of the code of a file that several threads have, the one with the most functions. */
function putTogether(taken) {
  const together = join(taken, 'together');
  mkdirSync(together);
  for (const thread of readdirSync(taken)) {
    if (!existsSync(join(taken, thread, 'done'))) continue;
    for (const file of filesUnder(join(taken, thread), (path) => !path.endsWith('done'))) {
      const place = join(together, relative(join(taken, thread), file));
      if (existsSync(place) && statSync(place).size >= statSync(file).size) continue;
      mkdirSync(join(place, '..'), { recursive: true });
      // Written anew: what a service makes only its own user may read, and who may read the bundle may read its code.
      writeFileSync(place, readFileSync(file));
    }
  }
}

// `node scripts/lib/keep-code.mjs <package>`
if (isProgram(import.meta.url)) await keepCode(resolve(process.argv[2]));
