/** Tests agents over HTTP and over standard input and output, with the client by the makers of the protocol. */
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type NewKeyOptions, type TestService } from '../support/service.js';

const PACKAGE = join(import.meta.dirname, '../..');

let service: TestService;
const opened: Client[] = [];
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_AGENTS_ANSWER_BYTES_MAX: '5000' } });
  await service.client.post('/list/default', {
    name: 'birds',
    searchable_fields: [{ name: 'title' }],
    facets: [{ name: 'family', type: 'string' }],
  });
  await service.client.bulk('default', 'birds', [
    { name: 'gannet', fields: { title: 'Northern gannet', family: 'Sulidae' } },
    { name: 'booby', fields: { title: 'Blue-footed booby', family: 'Sulidae' } },
    { name: 'puffin', fields: { title: 'Atlantic puffin', family: 'Alcidae' } },
  ]);
  await service.client.post('/list-group/default', { name: 'all', lists: [{ list: 'birds' }] });
});
afterAll(async () => {
  await Promise.all(opened.map((client) => client.close()));
  await service.close();
});

type Era = 'newest' | 'older';

async function overHttp(
  key: string,
  { header = 'X-API-Key', era = 'newest' }: { header?: string; era?: Era } = {},
): Promise<Client> {
  const value = header === 'Authorization' ? `Bearer ${key}` : key;
  const transport = new StreamableHTTPClientTransport(new URL(`${service.address}/mcp`), {
    requestInit: { headers: { [header]: value } },
  });
  return connected(transport, era);
}

async function connected(transport: Parameters<Client['connect']>[0], era: Era): Promise<Client> {
  const mode = era === 'newest' ? 'auto' : 'legacy';
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode } });
  opened.push(client);
  await client.connect(transport);
  return client;
}

async function agentWith(options: NewKeyOptions): Promise<Client> {
  const { key } = await service.createKey(options);
  return overHttp(key);
}

const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('');
const jsonOf = (result: CallToolResult): unknown => JSON.parse(textOf(result));

async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<CallToolResult> {
  return client.callTool({ name, arguments: given });
}

async function toolNames(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe('tools over HTTP', () => {
  it('are logged with the key that called them and the list that they were called for', async () => {
    const { key, id } = await service.createKey({ access: 'full', name: 'tidy agent' });
    const client = await overHttp(key);
    await call(client, 'list_create', { name: 'untidy' });
    await call(client, 'list_delete', { list: 'untidy' });
    const who = `"key":"tidy agent","keyId":"${id}","account":"default"`;
    await expect.poll(() => service.output).toContain(`${who},"operation":"list.delete","list":"untidy","status":204`);
  });

  it.each(['newest', 'older'] as const)('are listed and called over the %s version of the protocol', async (era) => {
    const { key } = await service.createKey({ access: 'full' });
    const client = await overHttp(key, { era });
    expect(client.getServerVersion()).toMatchObject({ name: 'gannet' });
    expect(await toolNames(client)).toEqual(
      expect.arrayContaining(['search_list', 'list_set_synonyms', 'analytics_get_list']),
    );
    const found = await call(client, 'search_list', { list: 'birds', query: 'norhtern', filter: "family = 'Sulidae'" });
    expect(jsonOf(found)).toMatchObject({ total_count: 1, results: [{ name: 'gannet' }] });
    expect(jsonOf(await call(client, 'search_group', { group: 'all', query: 'booby' }))).toMatchObject({
      total_count: 1,
    });
  });

  it('accept the API key as a bearer token, and refuse a call without a valid one', async () => {
    const { key } = await service.createKey({ access: 'search-and-read' });
    expect(await toolNames(await overHttp(key, { header: 'Authorization' }))).toContain('search_list');
    await expect(overHttp('gnt_eu_none', { header: 'Authorization' })).rejects.toThrow();
    const elsewhere = await fetch(`${service.address}/account`, { headers: { Authorization: `Bearer ${key}` } });
    expect(elsewhere.status).toBe(401);
  });

  it('are limited to those that the API key has permission for, and to the list in its scope', async () => {
    const reader = await agentWith({ access: 'search-and-read' });
    const names = await toolNames(reader);
    expect(names).toContain('search_list');
    expect(names.filter((name) => /delete|create|update|set_synonyms/.test(name))).toEqual([]);
    await expect(call(reader, 'list_delete', { list: 'birds' })).rejects.toThrow(
      "There is no tool 'list_delete', or the key may not use it",
    );
    await expect(call(reader, 'search', { list: 'birds' })).rejects.toThrow("Did you mean 'search_list'?");
    const other = await agentWith({ access: 'full', scope: 'list', scope_target: 'birds' });
    const ofList = await toolNames(other);
    expect(ofList).toContain('list_source_run');
    for (const name of ['list_list', 'webhook_create', 'list_feed', 'list_source_create'])
      expect(ofList, 'is about the account').not.toContain(name);
    await service.client.post('/list/default', { name: 'closed', searchable_fields: [{ name: 'title' }] });
    const refused = await call(other, 'search_list', { list: 'closed', query: 'x' });
    expect([refused.isError, jsonOf(refused)]).toEqual([
      true,
      expect.objectContaining({ status: 403, code: 'out-of-scope' }),
    ]);
    expect((await call(other, 'search_list', { list: 'birds', query: 'puffin' })).isError).toBeUndefined();
  });

  it('write and delete data, and declare in their hints whether they read, write or destroy', async () => {
    const client = await agentWith({ access: 'full' });
    const { tools } = await client.listTools();
    const hints = (name: string) => tools.find((tool) => tool.name === name)?.annotations;
    expect(hints('search_list')).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(hints('record_list_click')).toMatchObject({ readOnlyHint: false });
    expect(hints('list_delete')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(
      jsonOf(await call(client, 'list_create', { name: 'made', searchable_fields: [{ name: 'title' }] })),
    ).toMatchObject({ name: 'made' });
    const record = { name: 'a', fields: { title: 'One of them', number: 1 } };
    expect((await call(client, 'search_result_create', { list: 'made', body: record })).isError).toBeUndefined();
    const lines = '{"name":"b","title":"Two of them"}\n{"name":"c","title":"Three of them"}\n';
    expect(jsonOf(await call(client, 'search_result_bulk', { list: 'made', content: lines }))).toMatchObject({
      created: 2,
    });
    expect(jsonOf(await call(client, 'search_list', { list: 'made', query: 'them' }))).toMatchObject({
      total_count: 3,
    });
    expect(textOf(await call(client, 'list_delete', { list: 'made' }))).not.toContain('problem');
    expect(jsonOf(await call(client, 'list_read', { list: 'made' }))).toMatchObject({ status: 404 });
  });

  it('upload and read files as text and as base64', async () => {
    const client = await agentWith({ access: 'full' });
    const at = { store: 'default', path: 'notes/a.txt' };
    expect(
      (await call(client, 'media_upload', { ...at, content: 'Dives for fish', content_type: 'text/plain' })).isError,
    ).toBeUndefined();
    expect(textOf(await call(client, 'media_read', at))).toBe('Dives for fish');
    const bytes = Buffer.from([0, 1, 2, 255]);
    const binary = { store: 'default', path: 'notes/b.bin' };
    await call(client, 'media_upload', {
      ...binary,
      content_base64: bytes.toString('base64'),
      content_type: 'application/octet-stream',
    });
    const [part] = (await call(client, 'media_read', binary)).content;
    expect(part).toMatchObject({ type: 'resource', resource: { blob: bytes.toString('base64') } });
    const wrong = await call(client, 'media_upload', { ...binary, content_base64: '!!' });
    expect(jsonOf(wrong)).toMatchObject({
      code: 'invalid-parameter',
      detail: expect.stringContaining('bytes in base64') as string,
    });
  });

  it('explain a wrong call with the same errors as the API', async () => {
    const client = await agentWith({ access: 'full' });
    const faults: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ['search_list', { list: 'birds', qery: 'x' }, "This tool has no argument 'qery'. Did you mean 'query'?"],
      ['search_list', { query: 'x' }, "This tool needs the argument 'list'."],
      ['search_list', { list: 'brids' }, "There is no list 'brids'"],
      ['search_list', { list: 'birds', size: 'many' }, 'size'],
      ['search_list', { list: 'birds', filter: 'family ==' }, ''],
      ['search_list', { list: 'birds', version: 7 }, '7'],
      ['search_result_create', { list: 'birds' }, ''],
      ['search_list', { account: 'another', list: 'birds' }, 'reaches only'],
      ['search_list', { list: 'half of a \ud83d pair' }, ''],
    ];
    for (const [name, given, sentence] of faults) {
      const result = await call(client, name, given);
      expect(result.isError, JSON.stringify(given)).toBe(true);
      expect((jsonOf(result) as { detail: string }).detail).toContain(sentence);
    }
    await expect(call(client, 'serach_list')).rejects.toThrow("Did you mean 'search_list'?");
  });

  it('refuse an answer that is longer than an agent can read, and say how to ask for less', async () => {
    const client = await agentWith({ access: 'full' });
    await service.client.post('/list/default', { name: 'songs', searchable_fields: [{ name: 'title' }] });
    await service.client.bulk('default', 'songs', [{ name: 'long', fields: { title: 'swift '.repeat(2000) } }]);
    const result = await call(client, 'search_list', { list: 'songs', query: 'swift' });
    expect([result.isError, textOf(result)]).toEqual([
      true,
      expect.stringMatching(/^The answer has \d+ bytes, and a tool answers 5000 at most\. .*select/),
    ]);
    const less = await call(client, 'search_list', {
      list: 'songs',
      query: 'swift',
      select: ['kind'],
      highlight: false,
    });
    expect(jsonOf(less)).toMatchObject({ total_count: 1 });
  });

  it.each(['newest', 'older'] as const)(
    'return U+2028 and U+2029, which some readers take for line ends, unchanged (%s version)',
    async (era) => {
      const { key } = await service.createKey({ access: 'full' });
      const client = await overHttp(key, { era });
      const title = 'one\u2028two\u2029three\ndata: four';
      await call(client, 'list_create', { name: `lines-${era}`, searchable_fields: [{ name: 'title' }] });
      const body = { name: 'a', fields: { title } };
      expect(jsonOf(await call(client, 'search_result_create', { list: `lines-${era}`, body }))).toMatchObject(body);
      const found = await call(client, 'search_list', { list: `lines-${era}`, query: 'three' });
      expect(jsonOf(found)).toMatchObject({ results: [body] });
    },
  );

  it('have the same limits for a body as the same request over HTTP', async () => {
    const client = await agentWith({ access: 'full' });
    const lists = Array.from({ length: 3000 }, () => ({ list: 'b'.repeat(60) }));
    const large = await call(client, 'webhook_create', {
      url: `https://example.com/${'x'.repeat(70_000)}`,
      events: ['list.created'],
    });
    expect(jsonOf(large)).toMatchObject({ status: 413, code: 'body-too-large' });
    expect((await service.client.post('/webhook', { url: `https://example.com/${'x'.repeat(70_000)}` })).status).toBe(
      413,
    );
    const filter = `a = '${'x'.repeat(20_000)}'`;
    expect(jsonOf(await call(client, 'related_list', { list: 'birds', record: 'gannet', filter }))).toMatchObject({
      status: 400,
      detail: expect.stringContaining('at most 16384 characters') as string,
    });
    expect(jsonOf(await call(client, 'list_group_create', { name: 'large', lists }))).toMatchObject({ status: 413 });
    let deep: unknown = 1;
    for (let depth = 0; depth < 200; depth += 1) deep = [deep];
    await expect(
      call(client, 'search_result_create', { list: 'birds', body: { name: 'd', fields: { deep } } }),
    ).rejects.toThrow('more than 100 levels deep');
    expect(service.output).not.toContain('"level":50');
  });

  it('refuse a message with more JSON members than any tool of its API key accepts', async () => {
    const members = Array.from({ length: 12_000 }, (_, number) => `"m${number}":1`).join();
    const ask = async (access: 'search-and-read' | 'full') => {
      const { key } = await service.createKey({ access });
      const answer = await fetch(`${service.address}/mcp`, {
        method: 'POST',
        headers: {
          'x-api-key': key,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing","arguments":{${members}}}}`,
      });
      return { status: answer.status, text: await answer.text() };
    };
    const refused = await ask('search-and-read');
    expect(refused).toMatchObject({ status: 413 });
    expect(refused.text).toContain('members, objects and arrays');
    // A key that may write the rules of a list may send as much as those operations take.
    expect((await ask('full')).status).not.toBe(413);
  });

  it('ignore arguments that are null, and tell the agent what its API key reaches', async () => {
    const { key } = await service.createKey({ access: 'search-and-read', scope: 'list', scope_target: 'birds' });
    const client = await overHttp(key);
    expect(client.getInstructions()).toContain("The key reaches the list 'birds' alone.");
    expect(client.getInstructions()).not.toContain('list_list');
    const found = await call(client, 'search_list', {
      list: 'birds',
      query: 'puffin',
      filter: null,
      order_by: null,
      version: null,
    });
    expect(jsonOf(found)).toMatchObject({ total_count: 1 });
  });

  it('are counted in the metrics by operation and status', async () => {
    const client = await agentWith({ access: 'full' });
    await call(client, 'list_read', { list: 'missing-one' });
    expect(await service.metric('gannet_agent_calls_total{operation="list.read",status="404"}')).toBeGreaterThan(0);
  });

  it('keep integers of any length', async () => {
    const client = await agentWith({ access: 'full' });
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_result_create","arguments":{"list":"birds","body":{"name":"n","fields":{"isbn":1453429999999999991}}}}}`;
    const { key } = await service.createKey({ access: 'full' });
    const headers = {
      'X-API-Key': key,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    };
    expect((await fetch(`${service.address}/mcp`, { method: 'POST', headers, body })).status).toBe(200);
    expect(textOf(await call(client, 'search_result_list', { list: 'birds' }))).toContain('"1453429999999999991"');
  });

  it('answer 405 to GET and DELETE, and refuse bodies that are no message of the protocol', async () => {
    const { key } = await service.createKey({ access: 'full' });
    const headers = {
      'X-API-Key': key,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    };
    const send = (init: RequestInit) => fetch(`${service.address}/mcp`, { headers, ...init });
    expect((await send({ method: 'GET' })).status).toBe(405);
    expect((await send({ method: 'DELETE' })).status).toBe(405);
    const none = ['', '{', '[]', '7', 'null', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":{},"method":"ping"}'];
    const others = ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', `{"a":${'['.repeat(50_000)}`];
    for (const body of [...none, ...others, '[{"jsonrpc":"2.0","id":1,"method":"ping"}]']) {
      const answer = await send({ method: 'POST', body });
      const type = answer.headers.get('content-type');
      expect([answer.status, type], body.slice(0, 60)).toEqual([400, 'application/problem+json']);
    }
    const unknown = await send({ method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"none/such"}' });
    expect(await unknown.json()).toMatchObject({ id: 1, error: { code: -32601 } });
    expect(
      (await send({ method: 'POST', body: '{}', headers: { ...headers, 'Content-Type': 'text/plain' } })).status,
    ).toBe(415);
    const ping = await send({ method: 'POST', body: '{"jsonrpc":"2.0","id":"a","method":"ping"}' });
    expect(ping.headers.get('content-type')).toBe('application/json');
    expect(await ping.json()).toEqual({ jsonrpc: '2.0', id: 'a', result: {} });
    const listen = await send({ method: 'POST', body: '{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen"}' });
    expect(await listen.json()).toMatchObject({ id: 2, error: { code: -32601 } });
    const told = await send({ method: 'POST', body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
    expect([told.status, await told.text()]).toEqual([202, '']);
  });

  it('answer 100 calls at once', async () => {
    const client = await agentWith({ access: 'search-and-read' });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => call(client, 'search_list', { list: 'birds', query: 'gannet' })),
    );
    expect(answers.filter((answer) => answer.isError === true)).toEqual([]);
  });
});

describe('tools over standard input and output', () => {
  function overStdio(...argv: string[]): Promise<Client> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(PACKAGE, 'bin', 'gannet.js'), 'mcp', ...argv],
      env: { ...(process.env as Record<string, string>), GANNET_DATA_DIR: service.dataDir },
    });
    return connected(transport, 'newest');
  }

  it('work with the running service and without it', async () => {
    const client = await overStdio();
    const search = () => call(client, 'search_list', { list: 'birds', query: 'puffin' });
    expect(jsonOf(await search())).toMatchObject({ total_count: 1 });
    const missing = await call(client, 'search_list', { list: 'none' });
    expect([missing.isError, jsonOf(missing)]).toEqual([true, expect.objectContaining({ status: 404 })]);
    await service.stop();
    try {
      expect(jsonOf(await search())).toMatchObject({ total_count: 1 });
    } finally {
      await service.start();
    }
    expect(jsonOf(await search())).toMatchObject({ total_count: 1 });
    await client.close();
  });

  it('answers all messages that arrived before the agent closed standard input', async () => {
    const child = spawn(process.execPath, [join(PACKAGE, 'bin', 'gannet.js'), 'mcp'], {
      env: { ...process.env, GANNET_DATA_DIR: service.dataDir },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      {
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'search_list', arguments: { list: 'birds', query: 'puffin' } },
      },
    ];
    child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const said = await text(child.stdout);
    expect(
      said
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as { id: number }).id),
    ).toEqual([1, 2]);
    expect(said).toContain('total_count');
  });

  it('create no data directory if there is none', async () => {
    const nowhere = join(service.dataDir, 'nowhere');
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(PACKAGE, 'bin', 'gannet.js'), 'mcp', '--read-only'],
      env: { ...(process.env as Record<string, string>), GANNET_DATA_DIR: nowhere },
    });
    const client = await connected(transport, 'newest');
    const result = await call(client, 'list_list');
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining(nowhere)]);
    expect(existsSync(nowhere)).toBe(false);
    await client.close();
  });

  it('read a file, and refuse one that is too long for an answer', async () => {
    const client = await overStdio();
    for (const [path, bytes, type] of [
      ['short.txt', 10, 'text/plain; charset=utf-8'],
      ['short.png', 10, 'image/png'],
      ['short.bin', 10, 'application/octet-stream'],
      ['long.txt', 600_000, 'text/plain'],
    ] as const) {
      const put = await service.client.send('PUT', `/media/default/default/${path}`, {
        bytes: Buffer.alloc(bytes, 'x'),
        headers: { 'Content-Type': type },
      });
      expect(put.status, put.text).toBe(201);
    }
    const read = async (path: string) => (await call(client, 'media_read', { store: 'default', path })).content;
    const data = Buffer.from('x'.repeat(10)).toString('base64');
    expect(await read('short.txt')).toEqual([{ type: 'text', text: 'x'.repeat(10) }]);
    expect(await read('short.png')).toEqual([{ type: 'image', data, mimeType: 'image/png' }]);
    expect(await read('short.bin')).toMatchObject([{ type: 'resource', resource: { blob: data } }]);
    const long = await call(client, 'media_read', { store: 'default', path: 'long.txt' });
    expect([long.isError, textOf(long)]).toEqual([true, expect.stringMatching(/^The file has more than \d+ bytes/)]);
    await client.close();
  });

  it('can be limited by name with --tools', async () => {
    const client = await overStdio('--tools', 'search_*, list_read');
    const names = await toolNames(client);
    expect(names).toEqual(expect.arrayContaining(['search_list', 'search_group', 'list_read']));
    expect(names.filter((name) => !/^search_|^list_read$/.test(name))).toEqual([]);
    await client.close();
  });

  it('can be limited to reading with --read-only', async () => {
    const client = await overStdio('--read-only');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('search_list');
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    await client.close();
  });
});

describe('tools chosen in the URL', () => {
  const TOOLS_LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const namesAt = async (key: string, query: string): Promise<string[]> => {
    const { status, text: answer } = await service.clientWith(key).post(`/mcp?${query}`, TOOLS_LIST);
    expect(status, answer).toBe(200);
    return (JSON.parse(answer) as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
  };

  it('are listed if they are named and the API key has permission for them', async () => {
    const { key: full } = await service.createKey({ access: 'full' });
    const all = await namesAt(full, '');
    expect(await namesAt(full, 'tools=list_*')).toEqual(all.filter((name) => name.startsWith('list_')));
    expect(await namesAt(full, 'tools=list_read,search_list')).toHaveLength(2);
    const reading = await namesAt(full, 'tools=list_*&read_only=true');
    expect(reading).toContain('list_read');
    expect(reading).not.toContain('list_delete');
    const { key: searching } = await service.createKey({ access: 'search-and-read' });
    expect(await namesAt(searching, 'tools=list_delete,search_list')).toEqual(['search_list']);
  });

  it('cannot be called if the URL leaves them out', async () => {
    const { key } = await service.createKey({ access: 'full' });
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_list', arguments: {} } };
    const refused = await service.clientWith(key).post('/mcp?tools=search_list', call);
    expect(refused.text).toContain("There is no tool 'list_list'");
  });

  it('are refused if no tool has that name, and the error names the tools there are', async () => {
    const { key } = await service.createKey({ access: 'full' });
    for (const [query, said] of [
      ['tools=serch_list', "Did you mean 'search_list'?"],
      ['tools=nothing_*', 'Groups of tools: '],
      ['tools=%2C', 'It is empty'],
      ['tools=.*', "No tool is called '.*'"],
      ['read_only=maybe', 'read_only'],
    ] as const) {
      const refused = await service.clientWith(key).post(`/mcp?${query}`, TOOLS_LIST);
      expect([refused.status, refused.text], query).toEqual([400, expect.stringContaining(said)]);
    }
  });

  it('have no schema keyword that only the service understands', async () => {
    const { key } = await service.createKey({ access: 'full' });
    const { text: answer } = await service.clientWith(key).post('/mcp', TOOLS_LIST);
    expect(answer).not.toContain('"x-');
  });
});

describe('a message to the tools', () => {
  const sent = async (key: string, message: object) => {
    const body = { jsonrpc: '2.0', id: 1, ...message };
    return service.clientWith(key).post('/mcp', body);
  };
  const call = (name: string, given: object) => ({ method: 'tools/call', params: { name, arguments: given } });

  it('is not repeated in the error about it', async () => {
    const { key } = await service.createKey({ access: 'search-and-read' });
    const long = 'x'.repeat(500_000);
    for (const message of [call(long, {}), call('search_list', { [long]: 1 }), call('search_list', { list: long })]) {
      const { status, text: answer } = await sent(key, message);
      expect(status).toBe(200);
      expect(answer.length).toBeLessThan(5_000);
    }
  });

  it('may be as large as the tools of its API key accept, and the rest of the message may not', async () => {
    const { key } = await service.createKey({ access: 'search-and-read', scope: 'list', scope_target: 'birds' });
    const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 1]));
    const wide = await sent(key, call('search_list', members(101)));
    expect([wide.status, wide.text]).toEqual([400, expect.stringContaining('It has 101 members')]);
    expect((await sent(key, { method: 'tools/call', params: { _meta: members(101) } })).status).toBe(400);
    expect((await sent(key, { method: 'ping', params: { filler: 'x'.repeat(70_000) } })).status).toBe(413);
    const numbers = Array.from({ length: 110_000 }, () => 0);
    expect((await sent(key, call('search_list', { list: 'birds', vector: numbers }))).status).toBe(413);
    const found = await sent(key, call('search_list', { list: 'birds', query: 'gannet' }));
    expect([found.status, found.text]).toEqual([200, expect.stringContaining('Northern gannet')]);
  });
});
