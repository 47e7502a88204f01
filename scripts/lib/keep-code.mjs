/**
 * Records the compiled code of the bundle in its folder `code`, for bin/load-bundle.cjs. Runs the service on an empty folder and some
 * commands, makes the most common requests, and takes the code of all functions called meanwhile. V8 flags of a tuned service
 * change the code, so there is a folder for each tuning.
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
/** Time after which a service that has done nothing more is killed: it hangs. */
const SILENT_MS_MAX = 120_000;
const LOOK_MS = 20;
const COMMANDS = [['--version'], ['--help'], ['key', 'list'], ['list'], ['settings']];

const LIST = {
  name: 'animals',
  searchable_fields: [{ name: 'name' }, { name: 'text' }],
  facets: [{ name: 'legs', type: 'number' }],
};
const RECORD = { name: 'heron', fields: { name: 'Grey heron', text: 'waits in the reeds', legs: 2 } };
const SEARCH = '/search/default/animals/1';

/** Records the code. Rejects if it cannot be taken. Earlier code is removed then, and starts take longer. */
export async function keepCode(root, silentMsMax = SILENT_MS_MAX) {
  const kept = join(root, 'dist', 'bundle', 'code');
  const taken = `${kept}.unfinished`;
  for (const folder of [kept, taken]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(taken);
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-keep-code-'));
  const remove = () => {
    for (const folder of [taken, dataDir]) rmSync(folder, { recursive: true, force: true });
  };
  // Removes the folders if this process is ended in between, too.
  process.once('exit', remove);
  try {
    await recordCode({ root, taken, dataDir, silentMsMax });
    putTogether(taken);
    renameSync(join(taken, 'together'), kept);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

async function recordCode({ root, taken, dataDir, silentMsMax }) {
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
  let hung = '';
  const timer = setTimeout(() => {
    hung = `it did nothing for ${silentMsMax / 1000} s`;
    child.kill('SIGKILL');
  }, silentMsMax);
  const ended = new Promise((resolve) => {
    child.once('close', resolve);
    child.once('error', resolve);
  });
  try {
    const failed = ended.then((code) =>
      Promise.reject(new Error(`the service ended: ${hung || notes.trimEnd() || code}`)),
    );
    await Promise.race([failed, useService(child, { taken, dataDir, isAlive: () => timer.refresh() })]);
    for (const words of COMMANDS) {
      timer.refresh();
      await run(process.execPath, command(...words), { cwd: root, env });
    }
  } finally {
    child.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  }
}

/**
 * Makes the requests that most services get, then asks all threads for their code and waits for it. Calls `isAlive` whenever the service
 * has done something.
 */
async function useService(child, { taken, dataDir, isAlive }) {
  const call = async (...asked) => {
    const answer = await answered(...asked);
    isAlive();
    return answer;
  };
  const address = await addressOf(child);
  isAlive();
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
  // Threads that wait for work notice the request when they get some.
  await write();
  await search();
  let waitedFor = threads();
  while (waitedFor.length > 0) {
    await wait(LOOK_MS);
    const left = threads().filter((name) => !existsSync(join(taken, name, 'done')));
    if (left.length !== waitedFor.length) isAlive();
    waitedFor = left;
  }
  // Commands write their code when they end. With the request a slow one would write before it has loaded everything.
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

function answered({ key, ...where }, method, path, body) {
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

/** Puts the code together. Of the code that several threads have of a file, takes the largest, which has the most functions. */
function putTogether(taken) {
  const together = join(taken, 'together');
  mkdirSync(together);
  for (const thread of readdirSync(taken)) {
    if (!existsSync(join(taken, thread, 'done'))) continue;
    for (const file of filesUnder(join(taken, thread), (path) => !path.endsWith('done'))) {
      const place = join(together, relative(join(taken, thread), file));
      if (existsSync(place) && statSync(place).size >= statSync(file).size) continue;
      mkdirSync(join(place, '..'), { recursive: true });
      // Copies the contents only: the service's files are readable by its user alone, but all who can read the bundle may read its code.
      writeFileSync(place, readFileSync(file));
    }
  }
}

// `node scripts/lib/keep-code.mjs <package>`
if (isProgram(import.meta.url)) await keepCode(resolve(process.argv[2]));
