/**
 * Kills the service (SIGKILL) while the catalogue and the API keys change: every change that was answered is there
 * afterwards, and every other is there entirely or not at all.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAccess } from '../../src/access/index.js';
import { currentMembers, openCatalog } from '../../src/catalog/index.js';
import { openEnvironment, systemClock } from '../../src/platform/index.js';
import { SeededRandom } from '../support/random.js';

const KILLS = 20;
const SEED = 20_261_121;
/** The writer is killed after this number of lines, each one step of its work; the minimum is enough for one list. */
const LINES_MIN = 6;
const LINES_MORE_MAX = 40;

/**
 * Creates lists, adds each to the group `all`, creates a key for it, deletes every third, and prints what is
 * acknowledged. It waits for each line to be with the system: if nobody reads for a while, a line would be kept in the
 * process and die with it, and the work behind it would not.
 */
const WRITER = `
const { openEnvironment, systemClock } = await import(process.argv[1] + '/dist/src/platform/index.js');
const { openCatalog } = await import(process.argv[1] + '/dist/src/catalog/index.js');
const { openAccess } = await import(process.argv[1] + '/dist/src/access/index.js');
const environment = openEnvironment(process.argv[2], { kind: 'system' });
const catalog = await openCatalog(environment, systemClock);
const access = await openAccess(environment, systemClock);
const say = (line) => new Promise((resolve) => process.stdout.write(line + '\\n', resolve));
if (catalog.account('default') === undefined) {
  await catalog.createAccount('default', 'eu');
  await catalog.createGroup('default', 'all', { reranker: null, lists: [] });
}
const members = new Set(catalog.group('default', 'all').versions.at(-1).lists.map(({ list }) => list));
const member = (list) => ({ list, list_id: catalog.list('default', list).id, pinned_version: 1 });
await say('ready');
for (let n = Number(process.argv[3]); ; n++) {
  const name = 'list-' + n;
  await catalog.createList({
    account: 'default', name, engine: 'managed', language: 'en', query_rules: [], synonym_rules: [],
    model: null, reranker: null, suggestions: { require_click: false },
  });
  await say('list ' + name);
  const { secret } = await access.createKey({
    account: 'default', name, scope: 'list', scope_target: name, region: 'eu', permissions: [], expires_at: null,
  });
  await say('key ' + secret);
  members.add(name);
  await catalog.updateGroup('default', 'all', { lists: [...members].map(member) });
  await say('member ' + name);
  if (n % 3 !== 0) continue;
  await say('deleting ' + name);
  members.delete(name);
  await catalog.deleteList('default', name);
  await say('deleted ' + name);
}
`;

interface Answered {
  readonly lists: Set<string>;
  readonly keys: Set<string>;
  readonly deleted: Set<string>;
  readonly uncertain: Set<string>;
}

function run(folder: string, first: number, killAfterLines: number): Promise<string[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, process.cwd(), folder, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.split('\n').length > killAfterLines) child.kill('SIGKILL');
  });
  // A last line without its line end was not printed completely.
  return new Promise((resolve) => child.once('close', () => resolve(output.split('\n').slice(0, -1))));
}

describe(`the catalogue, killed ${KILLS} times (seed ${SEED})`, () => {
  it('keeps every acknowledged change, and no half of another', async () => {
    const random = new SeededRandom(SEED);
    const folder = mkdtempSync(join(tmpdir(), 'gannet-catalog-kill-'));
    const answered: Answered = { lists: new Set(), keys: new Set(), deleted: new Set(), uncertain: new Set() };
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        for (const line of await run(folder, kill * 1000, LINES_MIN + random.below(LINES_MORE_MAX)))
          note(answered, line);
        await compare(folder, answered);
      }
      expect(answered.lists.size).toBeGreaterThan(KILLS);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function note({ lists, keys, deleted, uncertain }: Answered, line: string): void {
  const [what, value = ''] = line.split(' ');
  switch (what) {
    case 'list':
      lists.add(value);
      break;
    case 'key':
      keys.add(value);
      break;
    case 'deleting':
      uncertain.add(value);
      break;
    case 'deleted':
      uncertain.delete(value);
      deleted.add(value);
      break;
    default:
      break;
  }
}

async function compare(folder: string, { lists, keys, deleted, uncertain }: Answered): Promise<void> {
  const environment = openEnvironment(folder, { kind: 'system' });
  try {
    const catalog = await openCatalog(environment, systemClock);
    const access = await openAccess(environment, systemClock);
    const there = new Set(catalog.lists('default').map(({ name }) => name));
    const missing = [...lists].filter((name) => !there.has(name) && !deleted.has(name) && !uncertain.has(name));
    expect(missing).toEqual([]);
    expect([...deleted].filter((name) => there.has(name))).toEqual([]);
    for (const key of keys) expect(access.authenticate(key).account).toBe('default');
    // A list and its place in the group are changed in one step.
    const group = catalog.group('default', 'all');
    const members = group === undefined ? [] : currentMembers(group).map(({ list }) => list);
    expect(members.filter((name) => !there.has(name))).toEqual([]);
  } finally {
    await environment.close();
  }
}
