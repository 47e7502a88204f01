import { describe, expect, it } from 'vitest';
import { namelessRecords, type RecordFormat } from '../records/index.js';
import { firstRecords } from './first-records.js';

const of = (text: string | Buffer, format: RecordFormat) => namelessRecords(firstRecords(Buffer.from(text), format));

describe('namelessRecords', () => {
  it('recognizes records in the encodings of spreadsheet programs', () => {
    const text = Buffer.from('\ufefftitle\tsku\nä\ts1\nb\ts2\n', 'utf16le');
    expect(of(text, 'csv')).toEqual({ suggestion: 'sku' });
    expect(of(Buffer.from('\ufeffname\tsku\nä\ts1\n', 'utf16le'), 'csv')).toBeUndefined();
  });

  it.each<[RecordFormat, string, string | undefined]>([
    ['csv', 'title,sku,price\na,s1,2\nb,s2,2\n', 'sku'],
    ['csv', '\ufefftitle,price\na,2\nb,2\nc,', 'title'],
    ['csv', 'title,product_id\na,1\nb,1\n', 'title'],
    ['csv', 'title,price\na,1\na,2\n', undefined],
    ['ndjson', '{"title":"a","id":1}\n{"title":"a","id":2}\n{"tit', 'id'],
    ['ndjson', '{"fields":{"url":"https://a"}}', 'url'],
    ['json', '[{"a":"x","key":"1"},{"a":"y","key":"2"},{"a":', 'key'],
    ['json', '[{"video":"x"},{"video":"x"}]', undefined],
  ])('suggests a unique field as name for records in %s', (format, text, suggestion) => {
    expect(of(text, format)).toEqual({ suggestion });
  });

  it.each<[RecordFormat, string]>([
    ['csv', 'name,title\na,1\n'],
    ['csv', 'name;title\na;1,5\n'],
    ['ndjson', '{"name":"a"}\n{"name":"b","fields":{}}\n'],
    ['json', '[{"name":"a"}]'],
    ['json', '[]'],
    ['csv', ''],
    ['ndjson', 'no JSON\n'],
  ])('returns undefined for records with names in %s: %j', (format, text) => {
    expect(of(text, format)).toBeUndefined();
  });
});
