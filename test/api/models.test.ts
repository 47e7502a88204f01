/** Tests models from outside: who may see and change them, and what is never shown. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { writeOnnxFolder } from '../support/onnx-folder.js';
import { answering, startScriptedModel, wellBehaved } from '../support/scripted-model.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';

const run = promisify(execFile);
const SECRET = 'sk-never-shown';

let service: TestService;
let server: ScriptedServer;
let control: ServiceClient;
beforeAll(async () => {
  server = await startScriptedModel();
  service = await startTestService({ env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' } });
  control = service.control();
});
afterAll(async () => {
  await service.close();
  await server.close();
});

const remote = (name: string) => ({
  name,
  provider: 'openai',
  url: server.url('/v1'),
  served_name: 'served',
  secret: SECRET,
});

describe('models', () => {
  it('are added by the operator, called once, shown with model:view, and never show their secret', async () => {
    const added = await control.post('/model/default', remote('first'));
    expect(added.status, added.text).toBe(201);
    expect(added.body).toMatchObject({
      name: 'first',
      kind: 'embedding',
      dimensions: 4,
      has_secret: true,
      state: 'ready',
      used_by: [],
    });
    const viewer = await service.clientFor({ access: 'custom', permissions: ['model:view'] });
    const listed = await viewer.get('/model/default');
    expect(listed.body).toMatchObject({ models: [{ name: 'built-in' }, { name: 'first' }] });
    for (const { text } of [added, listed, await viewer.get('/model/default/first')])
      expect(text).not.toContain(SECRET);
    expect(service.output).not.toContain(SECRET);
  });

  it('include the built-in one, which cannot be changed, deleted or tested', async () => {
    await service.client.post('/list/default', { name: 'learned', model: 'built-in' });
    // The built-in picture model has the same name, and is another model.
    await service.client.post('/list/default', { name: 'pictured', image_model: 'built-in' });
    const path = '/model/default/built-in';
    const shown = { kind: 'embedding', provider: 'built-in', tokens_max: null, state: 'ready', used_by: ['learned'] };
    expect(await service.client.get(path)).toMatchObject({ status: 200, body: { name: 'built-in', ...shown } });
    expect((await service.client.get('/list/default/pictured')).body).toMatchObject({ image_model: 'built-in' });
    const answers = [
      await control.put(path, { query_prefix: 'x' }),
      await control.delete(path),
      await control.post(`${path}/test`, undefined),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ status: 422, body: { code: 'unprocessable' } });
    for (const list of ['learned', 'pictured']) await service.client.delete(`/list/default/${list}`);
  });

  it('cannot be added or deleted by an API key, and are shown only with the permission', async () => {
    expect((await service.client.post('/model/default', remote('by-key'))).status).toBe(403);
    expect((await service.client.delete('/model/default/first')).status).toBe(403);
    const other = await service.clientFor({ access: 'custom', permissions: ['list:read'] });
    expect((await other.get('/model/default')).status).toBe(403);
  });

  it('are tested, changed and deleted, and keep their secret after a restart', async () => {
    await control.post('/model/default', remote('second'));
    await service.stop();
    await service.start();
    control = service.control();
    expect((await control.post('/model/default/second/test', undefined)).body).toMatchObject({ dimensions: 4 });
    expect(server.asked.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
    const changed = await control.put('/model/default/second', { query_prefix: 'query: ', secret: null });
    expect(changed.body).toMatchObject({ query_prefix: 'query: ', has_secret: false });
    server.script = answering(503, '{"error": "starting"}');
    expect(await control.post('/model/default/second/test', undefined)).toMatchObject({
      status: 422,
      text: expect.stringContaining('starting') as string,
    });
    server.script = wellBehaved;
    expect((await control.delete('/model/default/second')).status).toBe(204);
    expect((await control.get('/model/default/second')).status).toBe(404);
  });

  it.each([
    ['a provider that there is not', { provider: 'magic' }, '/provider'],
    ['no address', { provider: 'openai', served_name: 'x' }, '/url'],
    [
      'an address that no connection may go to',
      { provider: 'openai', served_name: 'x', url: 'http://10.1.2.3' },
      '/url',
    ],
    ['a member of another provider', { provider: 'own', dimensions: 3, url: 'https://example.com' }, '/url'],
    ['a kind that the provider has not', { provider: 'rerank', kind: 'chat', url: 'https://example.com' }, '/kind'],
    ['no dimensions of vectors that callers send', { provider: 'own' }, '/dimensions'],
  ])('are refused with %s', async (_what, body, pointer) => {
    const answer = await control.post('/model/default', { name: 'third', ...body });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body).toMatchObject({ errors: [{ pointer }] });
  });

  it('with the provider own need no server', async () => {
    const added = await control.post('/model/default', { name: 'mine', provider: 'own', dimensions: 3 });
    expect(added.body).toMatchObject({ provider: 'own', dimensions: 3, has_secret: false });
    for (const name of ['mine', 'own', 'built-in']) {
      expect((await control.post('/model/default', { name, provider: 'own', dimensions: 3 })).status).toBe(409);
    }
  });

  it('from ONNX folders run in the service, and search by meaning without another server', async () => {
    writeOnnxFolder(join(service.dataDir, 'models', 'letters'));
    const env = { PATH: process.env['PATH'], GANNET_DATA_DIR: service.dataDir, GANNET_LOG_LEVEL: 'warn' };
    const adding = await run(process.execPath, ['bin/gannet.js', 'model', 'add', 'letters', '--provider', 'onnx'], {
      env,
    });
    expect(adding.stdout).toContain('letters');
    const { client } = service;
    await client.post('/list/default', { name: 'lettered', model: 'letters', searchable_fields: [{ name: 'title' }] });
    await client.bulk('default', 'lettered', [
      { name: 'a', title: 'abcabc' },
      { name: 'x', title: 'xyzxyz' },
    ]);
    const read = async () =>
      (await client.get('/list/default/lettered')).body as { meaning: { state: string; embedded: number } };
    await eventually(read, ({ meaning }) => meaning.state === 'ready' && meaning.embedded === 2);
    const answer = await client.post('/search/default/lettered/1', { query: 'bcabca', match: 'any', explain: true });
    expect(answer.body).toMatchObject({ applied: { meaning: 'used' } });
    expect((answer.body as { results: readonly unknown[] }).results[0]).toMatchObject({ name: 'a' });
    const outside = await control.post('/model/default', { name: 'outside', provider: 'onnx', folder: '..' });
    expect(outside.body).toMatchObject({ errors: [{ pointer: '/folder' }] });
    const missing = await control.post('/model/default', { name: 'missing', provider: 'onnx' });
    expect(missing).toMatchObject({ status: 422, text: expect.stringContaining('There is no folder') as string });
  });

  it('are listed, added, tested and deleted by the command line', async () => {
    const env = { PATH: process.env['PATH'], GANNET_DATA_DIR: service.dataDir, GANNET_LOG_LEVEL: 'warn' };
    const gannet = async (...args: string[]) => {
      return (await run(process.execPath, ['bin/gannet.js', 'model', ...args], { env })).stdout;
    };
    const settings = ['--provider', 'openai', '--url', server.url('/v1'), '--served-name', 'served'];
    expect(JSON.parse(await gannet('add', 'typed', ...settings, '--json'))).toMatchObject({
      name: 'typed',
      dimensions: 4,
    });
    expect(await gannet('list')).toMatch(/typed +embedding +openai +4 +ready/);
    expect(JSON.parse(await gannet('test', 'typed', '--json'))).toMatchObject({ dimensions: 4 });
    await gannet('delete', 'typed');
    expect(await gannet('list')).not.toContain('typed');
  });
});
