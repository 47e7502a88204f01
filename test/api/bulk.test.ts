import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let listNumber = 0;
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_INGEST_BATCH_RECORDS_MAX: '100' } });
});
afterAll(() => service.close());

async function newList(): Promise<string> {
  const name = `films-${++listNumber}`;
  await service.client.post('/list/default', {
    name,
    searchable_fields: [{ name: 'title' }],
    facets: [{ name: 'year', type: 'number' }],
  });
  return name;
}

async function total(list: string, options: Record<string, unknown> = {}): Promise<number> {
  const { body } = await service.client.post(`/search/default/${list}/1`, { size: 0, ...options });
  return (body as { total_count: number }).total_count;
}

describe('a bulk import', () => {
  it('of NDJSON writes the good records and reports the bad ones by line', async () => {
    const list = await newList();
    const lines = [
      '{"name":"a","title":"one","year":1}',
      '',
      '{"name":"b","year":"not a number"}',
      '{"name":"c","fields":{"title":"three"}}',
      'this is no JSON',
      '{"name":"a","title":"one again"}',
      '[1]',
      '{"name":17}',
      '{"title":"nameless"}',
    ];
    const { status, body } = await service.client.bulk('default', list, lines.join('\r\n'));
    expect(status).toBe(200);
    expect(body).toMatchObject({ created: 3, updated: 1, failed: 4 });
    const { errors } = body as { errors: { line: number; name: string | null; detail: string }[] };
    expect(errors.map(({ line, name }) => [line, name])).toEqual([
      [3, 'b'],
      [5, null],
      [7, null],
      [8, null],
    ]);
    expect(errors[0]?.detail).toContain('year');
    // Who sends a whole array as NDJSON learns how it is sent.
    expect(errors[2]?.detail).toContain('has the content type application/json');
    expect(await total(list)).toBe(3);
    expect(await total(list, { query: 'again' })).toBe(1);
  });

  it('of a JSON array reports bad records by the number of the element', async () => {
    const list = await newList();
    const records = '[ {"name":"a","title":"x, \\"y\\" ]"},\n{"name":"b","year":[]}, {"name":"c","year":true} ]';
    const { body } = await service.client.bulk('default', list, records, 'application/json');
    expect(body).toMatchObject({ created: 2, failed: 1, errors: [{ line: 3, name: 'c' }] });
  });

  it('of CSV takes field names from the header and types from the list', async () => {
    const list = await newList();
    const csv = 'name,title,year\na,"one, ""two""\nthree",1983\nb,four,\nc,five,abc\n';
    const { body } = await service.client.bulk('default', list, csv, 'text/csv');
    expect(body).toMatchObject({ created: 2, failed: 1, errors: [{ name: 'c' }] });
    expect(await total(list, { filter: 'year = 1983' })).toBe(1);
    expect(await total(list, { query: 'three' })).toBe(1);
  });

  it.each([
    ['semicolons', Buffer.from('name;title;year\r\na;"one; two";1983\r\nb;fünf, sechs;\r\n')],
    ['tabs and UTF-16', Buffer.from('\ufeffname\ttitle\tyear\na\t"one; two"\t1983\nb\tfünf, sechs\t\n', 'utf16le')],
    ['the letters of Windows', Buffer.from('name;title;year\na;one, two;1983\nb;f\xfcnf, sechs;\n', 'latin1')],
  ])('of CSV with %s reads what spreadsheets write', async (_form, csv) => {
    const list = await newList();
    const { body } = await service.client.bulk('default', list, csv, 'text/csv');
    expect(body).toMatchObject({ created: 2, failed: 0 });
    expect(await total(list, { filter: 'year = 1983', query: 'one two' })).toBe(1);
    expect((await service.client.post(`/search/default/${list}/1`, { query: 'sechs' })).body).toMatchObject({
      results: [{ name: 'b', fields: { title: 'fünf, sechs' } }],
    });
  });

  it('of a long CSV recognizes separator and encoding from its beginning', async () => {
    const list = await newList();
    const rows = Array.from({ length: 9000 }, (_, n) => `r${n};M\xfcller, ${n};${n}\n`).join('');
    const csv = Buffer.from(`name;title;year\n${rows}`, 'latin1');
    expect((await service.client.bulk('default', list, csv, 'text/csv')).body).toMatchObject({
      created: 9000,
      failed: 0,
    });
    expect(await total(list, { query: 'müller', filter: 'year >= 8999' })).toBe(1);
  });

  it('of a workbook sent as CSV is refused with advice to save it as CSV', async () => {
    const list = await newList();
    const workbook = Buffer.from('PK\u0003\u0004\u0014\u0000\u0006\u0000\b\u0000xl/workbook.xml\n\n');
    const { status, body } = await service.client.bulk('default', list, workbook, 'text/csv');
    expect([status, (body as { detail: string }).detail]).toEqual([400, expect.stringContaining('save it as CSV')]);
  });

  it.each(['text/csv', 'application/x-ndjson', 'application/json'])(
    'of a picture sent as %s is refused and writes no records',
    async (type) => {
      const list = await newList();
      const picture = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\nmore,lines\nare,no records\n', 'latin1');
      const { status, body } = await service.client.bulk('default', list, picture, type);
      const detail = expect.stringMatching(
        /^The body is not text but a PNG picture: a record links to it, .*image\.$/,
      ) as string;
      expect([status, (body as { detail: string }).detail]).toEqual([400, detail]);
      expect(await total(list, { query: '' })).toBe(0);
    },
  );

  it('of CSV that is cut off inside a row also reports the lines before it that were refused', async () => {
    const list = await newList();
    const csv = 'name,title,year\na,A,1\nb,B,2,3,4\nc,C,5\nd,"D,6\n';
    const { status, body } = await service.client.bulk('default', list, Buffer.from(csv), 'text/csv');
    const detail =
      /line 5: a quote of the row is not closed\. Records before it that are in the list: 2\. Refused before it: line 3: [^:]+/;
    expect([status, (body as { detail: string }).detail]).toEqual([400, expect.stringMatching(detail)]);
  });

  it('of NDJSON that is no valid UTF-8 refuses only the records concerned', async () => {
    const list = await newList();
    const lines = Buffer.concat([
      Buffer.from('{"name":"a"}\n{"name":"b","title":"'),
      Buffer.from([0xe9]),
      Buffer.from('"}\n'),
    ]);
    expect((await service.client.bulk('default', list, lines)).body).toMatchObject({
      created: 1,
      failed: 1,
      errors: [{ line: 2, name: null, detail: 'The record is not valid UTF-8.' }],
    });
  });

  it.each([
    ['text/csv', 'sku,title\n007,one\n12.50,two\n', 'sku'],
    ['text/csv', 'name,year\n007,1\n,12.50\n', 'year'],
    ['application/x-ndjson', '{"sku":"007","title":"one"}\n{"sku":"12.50","title":"two"}\n', 'sku'],
    ['application/json', '[{"fields":{"sku":["007"]}},{"name":"12.50","fields":{}}]', 'sku'],
  ])(
    'of %s takes names from the field of name_from, and replaces the records when imported again',
    async (type, records, field) => {
      const list = await newList();
      const send = () =>
        service.client.send('POST', `/search-result/default/${list}/bulk`, {
          query: { name_from: field },
          bytes: records,
          headers: { 'Content-Type': type },
        });
      expect((await send()).body).toMatchObject({ created: 2, updated: 0, failed: 0 });
      expect((await send()).body).toMatchObject({ created: 0, updated: 2, failed: 0 });
      const { body } = await service.client.get(`/search-result/default/${list}`);
      expect((body as { results: { name: string }[] }).results.map(({ name }) => name)).toEqual(['007', '12.50']);
    },
  );

  it('with name_from refuses records that lack the field, and a CSV without the column', async () => {
    const list = await newList();
    const send = (bytes: string, type: string) =>
      service.client.send('POST', `/search-result/default/${list}/bulk`, {
        query: { name_from: 'sku' },
        bytes,
        headers: { 'Content-Type': type },
      });
    const lines = ['{"title":"a"}', '{"sku":true}', '{"sku":["a","b"]}', `{"sku":"${'x'.repeat(600)}"}`, '{"sku":5}'];
    expect((await send(lines.join('\n'), 'application/x-ndjson')).body).toMatchObject({
      created: 1,
      failed: 4,
      errors: [
        { line: 1, detail: expect.stringContaining("'sku' has no text or number to use as its name") as string },
        { line: 2 },
        { line: 3 },
        { line: 4, detail: expect.stringContaining('512') as string },
      ],
    });
    expect((await send('sku,title\n,a\nb,b\n', 'text/csv')).body).toMatchObject({ created: 1, failed: 1 });
    expect(await send('id,title\n1,a\n', 'text/csv')).toMatchObject({
      status: 400,
      body: { code: 'malformed-request', detail: expect.stringContaining("no column 'sku'") as string },
    });
  });

  it('with patch sets and removes fields of existing records, and creates none', async () => {
    const list = await newList();
    const first = { name: 'a', fields: { title: 'Gannet', year: 1984, shelf: 'b', note: 'n', name: 'a field' } };
    await service.client.bulk('default', list, [first, { name: 'b', title: 'Tern', year: 1999, sku: '7' }]);
    const patch = (bytes: string, type: string, query = {}) =>
      service.client.send('POST', `/search-result/default/${list}/bulk`, {
        query: { patch: true, ...query },
        bytes,
        headers: { 'Content-Type': type },
      });
    const lines = [
      '{"name":"a","year":1985,"note":null}',
      '{"name":"a","fields":{"shelf":"c"}}',
      '{"name":"c","year":1}',
      '{"year":2}',
      '{"name":"b","year":"many"}',
    ];
    expect((await patch(lines.join('\n'), 'application/x-ndjson')).body).toMatchObject({
      created: 0,
      updated: 2,
      failed: 3,
      errors: [
        { line: 3, name: 'c', detail: expect.stringContaining('no record of this name') as string },
        { line: 4, name: null, detail: expect.stringContaining('has its name') as string },
        { line: 5, name: 'b' },
      ],
    });
    expect((await patch('sku,title,year\n7,,2000\n', 'text/csv', { name_from: 'sku' })).body).toMatchObject({
      failed: 1,
    });
    expect((await patch('name,title,year\nb,,2000\n', 'text/csv')).body).toMatchObject({ updated: 1, failed: 0 });
    const { body } = await service.client.get(`/search-result/default/${list}`);
    const { results } = body as { results: { name: string; fields: unknown }[] };
    expect(results.map(({ name, fields }) => [name, fields])).toEqual([
      ['a', { title: 'Gannet', year: [1985], shelf: 'c', name: 'a field' }],
      ['b', { title: 'Tern', year: [2000], sku: '7' }],
    ]);
    expect(await total(list, { query: 'gannet', filter: 'year = 1985' })).toBe(1);
    expect(await total(list, { filter: 'year = 1984' })).toBe(0);
  });

  it('in many batches writes every record once and replaces by name', async () => {
    const list = await newList();
    const records = Array.from({ length: 2500 }, (_, n) => ({ name: `r${n}`, title: `gannet ${n}`, year: n }));
    expect((await service.client.bulk('default', list, records)).body).toMatchObject({
      created: 2500,
      updated: 0,
      failed: 0,
    });
    expect((await service.client.bulk('default', list, records)).body).toMatchObject({
      created: 0,
      updated: 2500,
      failed: 0,
    });
    expect(await total(list, { query: 'gannet' })).toBe(2500);
    expect((await service.client.get(`/list/default/${list}`)).body).toMatchObject({ record_count: 2500 });
  });

  it('of nothing does nothing', async () => {
    const list = await newList();
    for (const [text, type] of [
      ['', 'application/x-ndjson'],
      ['\n\n', 'application/ndjson'],
      ['[]', 'application/json'],
      ['name,title\n', 'text/csv'],
    ] as const) {
      expect(await service.client.bulk('default', list, text, type), type).toMatchObject({
        status: 200,
        body: { created: 0, updated: 0, failed: 0, errors: [] },
      });
    }
  });

  it('refuses other content types, and arrays that do not end', async () => {
    const list = await newList();
    for (const type of ['application/xml', 'text/plain', 'application/x-ndjson; charset=utf-16']) {
      expect((await service.client.bulk('default', list, '{}', type)).status, type).toBe(415);
    }
    for (const text of ['[{"name":"a"}', '{"name":"a"}', '[{"name":"a"} {"name":"b"}]', 'x']) {
      expect((await service.client.bulk('default', list, text, 'application/json')).status, text).toBe(400);
    }
    expect((await service.client.bulk('default', list, '{"name":"a"}\n', 'application/json')).body).toMatchObject({
      detail: expect.stringMatching(/found '\{'\. .*application\/x-ndjson\.$/) as string,
    });
    expect((await service.client.bulk('default', 'missing', [])).status).toBe(404);
  });

  it('answers 413 to a body that is larger than allowed', async () => {
    const small = await startTestService({
      env: { GANNET_LIMITS_BULK_BODY_BYTES_MAX: '2048', GANNET_LIMITS_JSON_BODY_BYTES_MAX: '1024' },
    });
    try {
      await small.client.post('/list/default', { name: 'a' });
      const records = Array.from({ length: 100 }, (_, n) => ({ name: `r${n}`, title: 'a title' }));
      expect((await small.client.bulk('default', 'a', records)).status).toBe(413);
      expect((await small.client.post('/search-result/default/a', { title: 'x'.repeat(2000) })).status).toBe(413);
      expect((await small.client.get('/list/default/a')).status).toBe(200);
    } finally {
      await small.close();
    }
  });
});
