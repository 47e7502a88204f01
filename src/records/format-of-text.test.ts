import { expect, it } from 'vitest';
import { formatOfText } from './format-of-text.js';

it.each([
  ['json', '{"name":"a"}\n{"name":"b"}\n', 'ndjson'],
  ['json', '\ufeff{"name":"a"}\r\n{"name":"b"}', 'ndjson'],
  ['json', '{"name":"a"}', 'ndjson'],
  ['json', '{\n  "items": []\n}', 'json'],
  ['json', '[{"name":"a"}]', 'json'],
  ['json', '', 'json'],
  ['ndjson', ' \n[\n{"name":"a"}]', 'json'],
  ['ndjson', '{"name":"a"}\n', 'ndjson'],
  ['csv', '[a,b]\n', 'csv'],
] as const)('A file named as %s that begins with %j is read as %s', (named, text, format) => {
  expect(formatOfText(named, Buffer.from(text))).toBe(format);
});
