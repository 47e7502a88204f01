import fc from 'fast-check';
import { expect, it } from 'vitest';
import { noTextOf } from './no-text.js';

it.each([
  ['\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'picture'],
  ['\xff\xd8\xff\xe0\0\x10JFIF', 'picture'],
  ['GIF89a\x01\0\x01\0', 'picture'],
  ['RIFF\x24\0\0\0WEBPVP8 ', 'picture'],
  ['%PDF-1.7\n', 'pdf'],
  ['PK\x03\x04\x14\0\x06\0', 'workbook'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'workbook'],
  ['\x1f\x8b\x08\0', 'packed'],
  ['BZh91AY&SY\xd5', 'packed'],
  ['PAR1\x15\x04\x15', 'table'],
  ['SQLite format 3\0', 'table'],
])('noTextOf recognizes %j as a %s', (begin, kind) => expect(noTextOf(Buffer.from(begin, 'latin1'))?.kind).toBe(kind));

it.each(['RIFF,name\na,b\n', 'GIF8;title\n', 'BZh,x', 'PAR1\ttitle\n', '', '{"name":"PK"}'])(
  'noTextOf accepts %j as a possible text of records',
  (text) => expect(noTextOf(Buffer.from(text))).toBeUndefined(),
);

it('noTextOf accepts every text that begins with a letter', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(noTextOf(Buffer.from(`a${text}`))).toBeUndefined();
    }),
  );
});
