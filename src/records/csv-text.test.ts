import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CsvText, csvTextOf, separatorOf } from './csv-text.js';

/** Returns the decoded text and its form, for bytes that are read in parts. */
function read(bytes: Uint8Array, pieceBytes: number) {
  const text = new CsvText();
  const read: Uint8Array[] = [];
  for (let begin = 0; begin < bytes.length; begin += pieceBytes)
    read.push(text.read(bytes.subarray(begin, begin + pieceBytes)));
  read.push(text.end());
  return { text: Buffer.concat(read).toString(), form: text.form };
}

const ENCODINGS = [
  ['utf-8', (text: string) => Buffer.from(text)],
  ['utf-16le', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['utf-16be', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
] as const;

it.each(ENCODINGS)('CsvText decodes %s in parts of any size', (encoding, bytesOf) => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'ä', '€', '𝄞', ';', '"', '\n') });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, pieceBytes) => {
      expect(read(bytesOf(text), pieceBytes)).toEqual({ text, form: { encoding, separator: separatorOf(text) } });
    }),
  );
});

it('CsvText decodes text that is not UTF-8 as windows-1252, even if that shows late', () => {
  const long = 'name;note\n' + 'Müller;€ 5\n'.repeat(20_000);
  const bytes = Buffer.from(long.replaceAll('€', '\x80'), 'latin1');
  expect(read(bytes, 40_000)).toEqual({ text: long, form: { encoding: 'windows-1252', separator: ';' } });
});

it('CsvText treats mostly valid UTF-8 as UTF-8 even if some of it is broken', () => {
  const broken = Buffer.concat([Buffer.from('name,note\nMüller,Größe\nCaf'), Buffer.from([0xe9]), Buffer.from(',x\n')]);
  expect(read(broken, 7)).toEqual({ text: broken.toString(), form: { encoding: 'utf-8', separator: ',' } });
  const marked = Buffer.concat([Buffer.from('\ufeffname\n'), Buffer.from([0xe9, 0xe9])]);
  expect(read(marked, 7).form).toEqual({ encoding: 'utf-8', separator: ',' });
});

it('CsvText waits for the rest of a character at which the examined beginning ends', () => {
  const text = 'x'.repeat(65_535) + 'ä,b\n';
  expect(read(Buffer.from(text), 65_536)).toEqual({ text, form: { encoding: 'utf-8', separator: ',' } });
});

it.each([
  ['a,b;c', ','],
  ['a;b;c,d', ';'],
  ['a;b,c', ','],
  ['Name, full\tPrice', '\t'],
  ['a\tb', '\t'],
  ['"a;b;c",d', ','],
  ['alone\nx;y;z', ','],
  ['', ','],
  ['\n\r\na;b', ';'],
])('separatorOf %j is %j', (text, separator) => {
  expect(separatorOf(text)).toBe(separator);
});

it('CsvText replaces lone carriage returns at ends of rows, as of an old Macintosh, with line feeds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), (pieceBytes) => {
      const { text, form } = read(Buffer.from('name;title\ra;x\rb;"y\rz"\r'), pieceBytes);
      expect([text, form?.separator]).toEqual(['name;title\na;x\nb;"y\nz"\n', ';']);
    }),
  );
  for (const kept of ['a,b\r\nc,d\r\n', '"a\rb",c\n', '"a\rb",c', 'a,b\r'])
    expect(read(Buffer.from(kept), 4).text).toBe(kept);
});

it('CsvText treats replacement characters as letters if the whole text is UTF-8', () => {
  for (const text of ['name\n\ufffd\n', `name\n${'\ufffd'.repeat(30_000)}`])
    expect(read(Buffer.from(text), 999).text).toBe(text);
});

it('CsvText follows a line "sep=" of spreadsheets for the separator, and removes it', () => {
  for (const mark of ['', '\ufeff'])
    for (const line of ['sep=;', 'SEP=;', '"sep=;"']) {
      const { text, form } = read(Buffer.from(`${mark}${line}\r\na,b;c,d,e\n`), 3);
      expect([text, form?.separator]).toEqual(['\r\na,b;c,d,e\n', ';']);
    }
  expect(csvTextOf(Buffer.from('sep=\t\nname\ttitle\n'))).toEqual({ text: '\nname\ttitle\n', separator: '\t' });
  expect(csvTextOf(Buffer.from('sep=;\rname;title\r'))).toEqual({ text: '\nname;title\n', separator: ';' });
  expect(csvTextOf(Buffer.from('sep=;more\n')).text).toBe('sep=;more\n');
});

it('CsvText recognizes UTF-16 without a byte order mark by the zero bytes of its header', () => {
  const text = 'name;title\na;日本\n';
  const bytes = Buffer.from(text, 'utf16le');
  expect(read(bytes, 5)).toEqual({ text, form: { encoding: 'utf-16le', separator: ';' } });
  expect(read(Buffer.from(bytes).swap16(), 5)).toEqual({ text, form: { encoding: 'utf-16be', separator: ';' } });
  expect(read(Buffer.from('a\0b,c\n'), 5).form).toEqual({ encoding: 'utf-8', separator: ',' });
});
