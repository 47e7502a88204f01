/**
 * Runs the services of the comparison over HTTP, each as its makers ship it, with a common interface: started on its own folder, given
 * records, searched by paths. Typos, stems (if the engine has them) and highlights are on, ten hits per answer, all else as by
 * default. Gannet runs each search (`cache=false`); the others cache no answers, or none of such searches.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { portOf } from '../../end-to-end/lib/port.mjs';
import {
  ACCOUNT,
  call,
  createKey,
  importNdjson,
  residentMemory,
  startService,
  untilMerged,
} from '../../end-to-end/lib/service.mjs';

const OPENSEARCH_VERSION = '3.8.0';
const JAVA_FEATURE_MIN = 21;
const START_SECONDS_MAX = 180;
/** Records per request, as the makers of each recommend, some tens of MiB at most. Gannet gets all in one request, of which so many are sent at a time. */
const BATCH_RECORDS = { gannet: 2000, meilisearch: 50_000, opensearch: 5000 };
/** User for programs that refuse to run as root. */
const NOBODY = 65_534;
const HITS = 10;

class MissingError extends Error {}

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const port = portOf(server);
      server.close(() => resolve(port));
    });
  });

/**
 * @typedef {{ body?: string | object; type?: string; key?: string }} Body
 * @typedef {{ facet?: string; typos?: boolean; fields?: readonly string[] }} PathOptions what the others do by themselves is left to them
 */

async function asked(address, method, path, { body, type = 'application/json', key } = /** @type {Body} */ ({})) {
  const response = await fetch(`${address}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': type }),
      ...(key === undefined ? {} : { 'x-api-key': key }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Starts a program, and waits until it answers `GET path` with 200. */
async function startProgram({ command, args, options, address, path }) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints = (complaints + chunk).slice(-2000);
  });
  let hasEnded = false;
  const ended = new Promise((resolve) => {
    child.once('exit', () => {
      hasEnded = true;
      resolve(undefined);
    });
    child.once('error', resolve);
  });
  const kill = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The process has ended.
    }
  };
  const killWithParent = () => kill('SIGKILL');
  process.once('exit', killWithParent);
  for (let seconds = 0; ; seconds += 0.5) {
    if (hasEnded) throw new Error(`${command} ended: ${complaints}`);
    const isReady = await asked(address, 'GET', path).then(
      () => true,
      () => false,
    );
    if (isReady) break;
    if (seconds > START_SECONDS_MAX)
      throw new Error(`${command} is not ready after ${START_SECONDS_MAX} s: ${complaints}`);
    await wait(500);
  }
  return {
    pid: child.pid,
    async stop() {
      process.off('exit', killWithParent);
      kill('SIGTERM');
      await Promise.race([ended, wait(30_000).then(() => kill('SIGKILL'))]);
    },
  };
}

async function* batches(records, size) {
  let batch = [];
  for await (const record of records) {
    batch.push(record);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function startGannet(folder) {
  const service = await startService(folder);
  const key = createKey(folder);
  const { address } = service;
  // Sends many lines at a time, as sending them one by one is slower than the reader.
  async function* ndjson(records) {
    for await (const batch of batches(records, BATCH_RECORDS.gannet))
      yield batch.map(({ id, ...fields }) => `${JSON.stringify({ name: id, fields })}\n`).join('');
  }
  return {
    version: 'default settings',
    address,
    key,
    pid: service.pid,
    stop: () => service.stop(),
    async load(index, { fields, facets = [] }, records) {
      await call(address, key, 'POST', `/list/${ACCOUNT}`, {
        name: index,
        language: 'en',
        searchable_fields: fields.map((name) => ({ name, weight: 1 })),
        facets: facets.map((name) => ({ name, type: 'string', cardinality: 'Single' })),
      });
      await importNdjson(address, key, index, ndjson(records));
    },
    settle: () => untilMerged(folder),
    path: (index, query, { facet } = /** @type {PathOptions} */ ({})) =>
      `/search/${ACCOUNT}/${index}/1?${new URLSearchParams({ query, match: 'any', size: String(HITS), cache: 'false', ...(facet === undefined ? {} : { facets: facet }) })}`,
    names: ({ results }) => results.map(({ name }) => name),
  };
}

/** Encodes an id for Meilisearch, whose identifiers have letters, digits, `-` and `_`. */
const meilisearchId = (id) => Buffer.from(id).toString('base64url');

async function startMeilisearch(folder) {
  const program = process.env.MEILISEARCH ?? '';
  if (!existsSync(program))
    throw new MissingError('MEILISEARCH names no program (bench/README.md says how one is built)');
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const args = [
    '--db-path',
    join(folder, 'data'),
    '--http-addr',
    `127.0.0.1:${port}`,
    '--no-analytics',
    '--env',
    'development',
  ];
  const options = { cwd: folder, env: process.env };
  const running = await startProgram({
    command: program,
    args: [...args, '--http-payload-size-limit', '1GiB'],
    options,
    address,
    path: '/health',
  });
  const done = async ({ taskUid }) => {
    for (;;) {
      const { status, error } = await asked(address, 'GET', `/tasks/${taskUid}`);
      if (status === 'succeeded') return;
      if (status === 'failed') throw new Error(`Meilisearch: ${JSON.stringify(error)}`);
      await wait(20);
    }
  };
  return {
    ...running,
    version: (await asked(address, 'GET', '/version')).pkgVersion,
    address,
    key: 'none',
    async load(index, { fields, facets = [] }, records) {
      await done(await asked(address, 'POST', '/indexes', { body: { uid: index, primaryKey: 'id' } }));
      const settings = { searchableAttributes: fields, filterableAttributes: facets };
      await done(await asked(address, 'PATCH', `/indexes/${index}/settings`, { body: settings }));
      const tasks = [];
      for await (const batch of batches(records, BATCH_RECORDS.meilisearch)) {
        const lines = batch.map((record) => JSON.stringify({ ...record, id: meilisearchId(record.id) }));
        tasks.push(
          await asked(address, 'POST', `/indexes/${index}/documents`, {
            body: lines.join('\n'),
            type: 'application/x-ndjson',
          }),
        );
      }
      for (const task of tasks) await done(task);
    },
    settle: () => Promise.resolve(),
    path: (index, q, { facet } = /** @type {PathOptions} */ ({})) =>
      `/indexes/${index}/search?${new URLSearchParams({ q, limit: String(HITS), attributesToHighlight: '*', ...(facet === undefined ? {} : { facets: facet }) })}`,
    names: ({ hits }) => hits.map(({ id }) => Buffer.from(id, 'base64url').toString()),
  };
}

/** Returns the folder of a JDK that can run OpenSearch. */
function javaHome() {
  for (const home of [process.env.JAVA_HOME, ...folders('/usr/lib/jvm')]) {
    if (home === undefined || !existsSync(join(home, 'bin', 'java'))) continue;
    const { groups } = /version "(?<feature>\d+)/.exec(
      execFileSync('sh', ['-c', `"${join(home, 'bin', 'java')}" -version 2>&1`], { encoding: 'utf8' }),
    ) ?? { groups: { feature: '0' } };
    if (Number(groups.feature) >= JAVA_FEATURE_MIN) return home;
  }
  throw new MissingError(`no JDK ${JAVA_FEATURE_MIN} or later: set JAVA_HOME`);
}

const folders = (path) => (existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []);

/** Fetches the distribution without plugins from Maven's repository, and unpacks it below the folder. */
function openSearchFolder(work) {
  const home = join(work, `opensearch-${OPENSEARCH_VERSION}`);
  if (existsSync(home)) return home;
  const artifact = `org.opensearch.distribution.integ-test-zip:opensearch:${OPENSEARCH_VERSION}:zip`;
  try {
    execFileSync('mvn', ['-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${work}`], {
      stdio: 'pipe',
    });
    execFileSync('unzip', ['-q', '-o', join(work, `opensearch-${OPENSEARCH_VERSION}.zip`), '-d', work], {
      stdio: 'pipe',
    });
  } catch (error) {
    throw new MissingError(
      `OpenSearch could not be fetched by mvn and unpacked: ${String(error.stderr ?? error.message).slice(0, 300)}`,
    );
  }
  return home;
}

async function startOpenSearch(folder, { work, heapMib }) {
  const java = javaHome();
  const home = openSearchFolder(work);
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    chmodSync(folder, 0o777);
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home, folder]);
  }
  const settings = [
    `path.data=${join(folder, 'data')}`,
    `path.logs=${join(folder, 'logs')}`,
    `http.port=${port}`,
    'network.host=127.0.0.1',
    'discovery.type=single-node',
    'cluster.routing.allocation.disk.threshold_enabled=false',
  ];
  const running = await startProgram({
    command: join(home, 'bin', 'opensearch'),
    args: settings.flatMap((setting) => ['-E', setting]),
    options: {
      cwd: folder,
      env: {
        ...process.env,
        JAVA_HOME: java,
        OPENSEARCH_JAVA_HOME: java,
        OPENSEARCH_JAVA_OPTS: `-Xms${heapMib}m -Xmx${heapMib}m`,
        HOME: folder,
      },
      ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    },
    address,
    path: '/_cluster/health?wait_for_status=yellow',
  });
  return {
    ...running,
    version: `${OPENSEARCH_VERSION}, heap ${heapMib} MiB`,
    address,
    key: 'none',
    async load(index, { fields, facets = [] }, records) {
      const properties = Object.fromEntries([
        ...fields.map((name) => [name, { type: 'text', analyzer: 'english' }]),
        ...facets.map((name) => [name, { type: 'keyword' }]),
      ]);
      await asked(address, 'PUT', `/${index}`, {
        body: {
          settings: { number_of_shards: 1, number_of_replicas: 0, refresh_interval: '-1' },
          mappings: { properties },
        },
      });
      for await (const batch of batches(records, BATCH_RECORDS.opensearch)) {
        const lines = batch.flatMap(({ id, ...source }) => [
          JSON.stringify({ index: { _id: id } }),
          JSON.stringify(source),
        ]);
        const type = 'application/x-ndjson';
        const { errors } = await asked(address, 'POST', `/${index}/_bulk`, { body: `${lines.join('\n')}\n`, type });
        if (errors) throw new Error('OpenSearch: a record was refused');
      }
      await asked(address, 'POST', `/${index}/_refresh`);
    },
    async settle(index) {
      for (;;) {
        const { _all } = await asked(address, 'GET', `/${index}/_stats/merge`);
        if (_all.total.merges.current === 0) break;
        await wait(500);
      }
      await asked(address, 'POST', `/${index}/_flush`);
    },
    path: (index, query, { typos = true, fields = ['text'], facet } = /** @type {PathOptions} */ ({})) => {
      const source = {
        size: HITS,
        query: { multi_match: { query, fields, type: 'most_fields', ...(typos ? { fuzziness: 'AUTO' } : {}) } },
        highlight: { fields: Object.fromEntries(fields.map((name) => [name, {}])) },
        ...(facet === undefined ? {} : { aggs: { [facet]: { terms: { field: facet } } } }),
      };
      return `/${index}/_search?${new URLSearchParams({ source: JSON.stringify(source), source_content_type: 'application/json' })}`;
    },
    names: ({ hits }) => hits.hits.map(({ _id }) => _id),
  };
}

const STARTERS = { gannet: startGannet, meilisearch: startMeilisearch, opensearch: startOpenSearch };
export const ENGINES = Object.keys(STARTERS);

/**
 * Starts an engine. Resolves with it, or with `{ missing }` and the reason if this machine cannot run it. `work` is the folder that keeps programs
 * between runs.
 */
export async function startEngine(name, { work, heapMib }) {
  const folder = join(work, `${name}-data`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    const engine = await STARTERS[name](folder, { work, heapMib });
    return {
      ...engine,
      folder,
      search: (path) => asked(engine.address, 'GET', path, { key: engine.key }),
      memory: () => sumOfGroup(engine.pid),
      diskMib: () => Number(execFileSync('du', ['-sm', folder], { encoding: 'utf8' }).split('\t')[0]),
    };
  } catch (error) {
    if (error instanceof MissingError) return { missing: error.message };
    throw error;
  }
}

/** Returns the MiB of a process and of those that it started. */
function sumOfGroup(pid) {
  const children = execFileSync('ps', ['-eo', 'pid=,ppid=,pgid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const ours = children.filter(([own, parent, group]) => own === pid || parent === pid || group === pid);
  return ours.reduce((sum, [own]) => sum + residentMemory(own).all, 0);
}
