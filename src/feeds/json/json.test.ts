import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { SourceFailedError } from '../source/source-run.js';
import { readJsonBody } from './json-body.js';
import { allFields, mappedFields } from './json-fields.js';
import { JsonPath, type JsonValue } from './json-path.js';
import { Pagination, type PaginationSettings } from './pagination.js';

describe('JsonPath', () => {
  const value = { data: { items: [{ id: 7 }, { id: 8 }] }, 'odd name': true };
  it.each([
    ['data.items', [value.data.items]],
    ['$.data.items[*].id', [7, 8]],
    ['$..id', [7, 8]],
    ['odd name', [true]],
    ["$['odd name']", [true]],
    ['$', [value]],
    ['nothing.here', []],
  ])('%s leads to %j', (text, expected) => {
    expect(new JsonPath(text).all(value)).toEqual(expected);
  });

  it.each(['', '$.a[', '$[?@.a > 1]', '$..a..b', 'x'.repeat(501)])('refuses %j', (text) => {
    expect(() => new JsonPath(text)).toThrow(SyntaxError);
  });

  it('accepts any text or throws a SyntaxError', () => {
    fc.assert(
      fc.property(fc.string(), fc.json(), (text, json) => {
        try {
          expect(Array.isArray(new JsonPath(text).all(JSON.parse(json) as JsonValue))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
    );
  });
});

describe('readJsonBody', () => {
  const read = async (text: string) =>
    (await readJsonBody(Buffer.from(text), { contentType: 'application/json' })).value;
  it('reads a document, or one document per line', async () => {
    expect(await read('\ufeff {"a": 1}')).toEqual({ a: 1 });
    expect(await read('{"a":1}\r\n\n{"a":2}\n')).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it.each([
    ['', 'empty'],
    ['<!DOCTYPE html><p>Sign in', 'web page'],
    ['Not found', 'cannot be read as JSON'],
    ['{"a": 1', 'cannot be read as JSON'],
    ['{"a":1}\n{"a":', 'Line 2'],
  ])('reports %j as %s', async (text, said) => {
    await expect(read(text)).rejects.toThrow(SourceFailedError);
    await expect(read(text)).rejects.toThrow(said);
  });

  it('parses no lines after one that is no JSON', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    await expect(read(`{}\n${'x\n'.repeat(1000)}`)).rejects.toThrow('Line 2');
    expect(parse.mock.calls.length).toBeLessThan(10);
    parse.mockRestore();
  });
});

describe('fields of a JSON record', () => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, number) => [`f${number}`, number]));
  const record = {
    id: 1,
    title: 'T',
    price: { amount: 2, currency: 'EUR' },
    tags: ['a', 'b'],
    parts: [{ x: 1 }, { x: 2 }],
    none: null,
  };
  it('are all members that can be fields', () => {
    expect(allFields(record)).toEqual({
      fields: { id: 1, title: 'T', price_amount: 2, price_currency: 'EUR', tags: ['a', 'b'] },
      isCut: false,
    });
  });

  it('are the ones that the mapping names', () => {
    const paths = { cost: 'price.amount', tags: 'tags', x: '$.parts[*].x', none: 'none', missing: 'missing' };
    const mapping = new Map(Object.entries(paths).map(([name, path]) => [name, new JsonPath(path)]));
    expect(mappedFields(record, mapping)).toEqual({ cost: 2, tags: ['a', 'b'], x: [1, 2] });
  });

  it('are limited in number and kind, whatever the record is', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (json) => {
        const { fields } = allFields(JSON.parse(json) as JsonValue);
        for (const value of Object.values(fields))
          expect(['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value)).toBe(true);
      }),
    );
    const { fields, isCut } = allFields(members(1000));
    expect([Object.keys(fields).length, isCut]).toEqual([200, true]);
    expect(allFields(members(200)).isCut).toBe(false);
  });

  it('are read only until there are enough, however many members follow', () => {
    let reads = 0;
    const many = Object.defineProperties(
      {},
      Object.fromEntries(
        Array.from({ length: 10_000 }, (_, number) => [`f${number}`, { enumerable: true, get: () => (reads += 1) }]),
      ),
    ) as JsonValue;
    expect(allFields(many).isCut).toBe(true);
    expect(reads).toBe(201);
  });
});

describe('Pagination', () => {
  const start = 'https://a.example/items?q=1';
  const page = (recordCount: number, json: JsonValue = {}, linkHeader?: string) => ({
    url: start,
    recordCount,
    json,
    linkHeader,
  });
  const of = (settings: PaginationSettings) => new Pagination(settings, start);

  it('counts pages and records', () => {
    const pages = of({ kind: 'page', parameter: 'p', size_parameter: 'n', size: 2 });
    expect(pages.firstUrl()).toBe('https://a.example/items?q=1&n=2&p=1');
    expect(pages.urlAfter(page(2))).toBe('https://a.example/items?q=1&n=2&p=2');
    expect(pages.urlAfter(page(1))).toBeUndefined();
    const offsets = of({ kind: 'offset', parameter: 'from' });
    expect(offsets.firstUrl()).toBe('https://a.example/items?q=1&from=0');
    expect(offsets.urlAfter(page(3))).toBe('https://a.example/items?q=1&from=3');
    expect(offsets.urlAfter(page(0))).toBeUndefined();
    expect([of({ kind: 'none' }).firstUrl(), of({ kind: 'none' }).urlAfter(page(3))]).toEqual([start, undefined]);
  });

  it('follows cursors, and fails at one that repeats', () => {
    const cursors = of({ kind: 'cursor', parameter: 'c', next: 'meta.next', has_more: 'more' });
    expect(cursors.firstUrl()).toBe(start);
    expect(cursors.urlAfter(page(1, { meta: { next: 'x/y' } }))).toBe('https://a.example/items?q=1&c=x%2Fy');
    expect(cursors.urlAfter(page(1, { meta: { next: null } }))).toBeUndefined();
    expect(cursors.urlAfter(page(1, { meta: { next: 'z' }, more: false }))).toBeUndefined();
    expect(() => cursors.urlAfter(page(1, { meta: { next: 'x/y' } }))).toThrow('has no end');
  });

  it.each([
    ['<https://a.example/2>; rel="next"', 'https://a.example/2'],
    ['<https://a.example/0>; rel="prev", </3?a=1,2>; title="x"; rel=next', 'https://a.example/3?a=1,2'],
    ['</4>; rel="last next"', 'https://a.example/4'],
    ['<https://a.example/2>; rel="nextish"', undefined],
    ['</5>; Rel = "last  NEXT" ; title=x, </6>; rel=next', 'https://a.example/5'],
    ['</7>; xrel=next, </8>; rel', undefined],
    ['', undefined],
  ])('finds the next page in the header %s', (header, expected) => {
    expect(of({ kind: 'link' }).urlAfter(page(1, {}, header))).toBe(expected);
  });

  it('finds the next page in the answer, and refuses a URL that repeats or is invalid', () => {
    const links = of({ kind: 'link', next: 'next' });
    expect(links.urlAfter(page(1, { next: '/items?page=2' }))).toBe('https://a.example/items?page=2');
    expect(links.urlAfter(page(1, { next: null }))).toBeUndefined();
    expect(() => links.urlAfter(page(1, { next: '/items?page=2' }))).toThrow(SourceFailedError);
    expect(() => links.urlAfter(page(1, { next: 'http://[' }))).toThrow('is none');
  });

  it('takes linear time for long headers', () => {
    const before = process.cpuUsage();
    of({ kind: 'link' }).urlAfter(page(1, {}, '<x>; a='.repeat(20_000)));
    of({ kind: 'link' }).urlAfter(
      page(1, {}, `<x>;rel=${' '.repeat(500)}${' next '.repeat(500)}e${' '.repeat(500)}"x`),
    );
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000);
  });
});
