/** Tests `gannet call …`, which calls any operation by its name, with the service running and without. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const run = promisify(execFile);
const dataDir = mkdtempSync(join(tmpdir(), 'gannet-call-cli-'));
let service: TestService | undefined;
afterAll(async () => {
  await service?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function call(...args: string[]): Promise<string> {
  return callWith('', ...args);
}

/** Calls with `input` on standard input. */
async function callWith(input: string, ...args: string[]): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), GANNET_DATA_DIR: dataDir };
  const calling = run(process.execPath, ['bin/gannet.js', 'call', ...args], { env });
  calling.child.stdin?.end(input);
  return (await calling).stdout;
}

it('gannet call runs operations without the service, sends files as bodies, and calls the running service', async () => {
  expect(JSON.parse(await call('list.create', '--param', 'name=films'))).toMatchObject({ name: 'films' });
  const records = join(dataDir, 'records.ndjson');
  writeFileSync(records, '{"name":"a","title":"Diving birds"}\n{"name":"b","title":"Swimming fish"}\n');
  const bulk = ['search-result.bulk', '--param', 'list=films', '--input', records];
  expect(JSON.parse(await call(...bulk, '--content-type', 'application/x-ndjson'))).toMatchObject({ created: 2 });

  service = await startTestService({ dataDir });
  const search = ['search.list', '--param', 'list=films', '--param', 'version=1', '--param', 'query=bird'];
  expect(JSON.parse(await call(...search))).toMatchObject({ total_count: 1, results: [{ name: 'a' }] });
  expect(await call('system.metrics')).toContain('# HELP');
  writeFileSync(join(dataDir, 'search.json'), '{"query": "fish"}');
  const filed = ['search.list', '--param', 'list=films', '--param', 'version=1'];
  const found = { total_count: 1, results: [{ name: 'b' }] };
  expect(JSON.parse(await call(...filed, '--body', `@${join(dataDir, 'search.json')}`))).toMatchObject(found);
  for (const body of ['-', '@-'])
    expect(JSON.parse(await callWith('\ufeff{"query": "fish"}\n', ...filed, '--body', body))).toMatchObject(found);
  expect(await call('list.delete', '--param', 'list=films')).toBe('');
});

it('gannet call creates no data directory unless the operation may be the first of all', async () => {
  const nowhere = join(dataDir, 'nowhere');
  const fails = [
    ['backup.create', '--param', `folder=${join(dataDir, 'backups')}`],
    ['list.delete', '--param', 'list=films'],
  ];
  for (const args of fails) {
    const told = run(process.execPath, ['bin/gannet.js', 'call', ...args], {
      env: { ...process.env, GANNET_DATA_DIR: nowhere },
    });
    await expect(told).rejects.toMatchObject({
      stderr: expect.stringContaining('There is no data directory') as string,
    });
  }
  expect(existsSync(nowhere)).toBe(false);
});

it('gannet call lists the operations, explains their parameters, and says what was wrong with a call', async () => {
  expect(await call()).toMatch(/^list\.read +GET \/list\/\{account\}\/\{list\}/m);
  expect(await call('list.read', '--help')).toContain('Name of the list');
  expect(await call('--help')).toContain('gannet call OPERATION --help');
  const fails = (args: readonly string[], code: number, message: string) =>
    expect(call(...args)).rejects.toMatchObject({ code, stderr: expect.stringContaining(message) as string });
  await fails(['list.red'], 2, "Did you mean 'list.read'?");
  await fails(['search'], 2, "Did you mean 'search.list'?");
  await fails(['list.set-synonyms'], 2, "Did you mean 'synonym.update'?");
  await fails(['list.read'], 2, '--param list=…');
  await fails(['list.read', '--param', 'list='], 2, "The parameter 'list' of list.read is empty");
  await fails(['list.read', '--param', 'list=none'], 1, "There is no list 'none'");
  const broken = join(dataDir, 'broken.json');
  writeFileSync(broken, '{"name": "x",\n "facets": [1,\n}');
  for (const body of ['{"name": "x",\n "facets": [1,\n}', `@${broken}`])
    await fails(['list.create', '--body', body], 2, 'The body is not JSON. At line 3, column 1: "}" where a value');
  await fails(['list.create', '--body', '{"name":"a","name":"b"}'], 2, 'At line 1, column 13');
  writeFileSync(broken, Buffer.from('{"name": "é"}', 'latin1'));
  await fails(['list.create', '--body', `@${broken}`], 2, 'broken.json is not valid UTF-8');
  writeFileSync(broken, ' '.repeat(20_000_000));
  await fails(['list.create', '--body', `@${broken}`], 1, 'The body is larger than');
  await fails(['list.create', '--body', '@'], 2, 'needs a file name');
  await fails(['list.create', '--body', '@/nowhere/list.json'], 1, '/nowhere/list.json cannot be read');
});
