import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CsvText, separatorOf } from './csv-text.js';

/** What comes out, and the form, of a text that comes in pieces. */
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

it.each(ENCODINGS)('gives the text that is written in %s, in pieces of any size', (encoding, bytesOf) => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'ä', '€', '𝄞', ';', '"', '\n') });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, pieceBytes) => {
      expect(read(bytesOf(text), pieceBytes)).toEqual({ text, form: { encoding, separator: separatorOf(text) } });
    }),
  );
});

it('reads what is no UTF-8 as Windows writes it, also behind the beginning', () => {
  const long = 'name;note\n' + 'Müller;€ 5\n'.repeat(20_000);
  const bytes = Buffer.from(long.replaceAll('€', '\x80'), 'latin1');
  expect(read(bytes, 40_000)).toEqual({ text: long, form: { encoding: 'windows-1252', separator: ';' } });
});

it('takes a text of UTF-8 for what it is where some of it is broken', () => {
  const broken = Buffer.concat([Buffer.from('name,note\nMüller,Größe\nCaf'), Buffer.from([0xe9]), Buffer.from(',x\n')]);
  expect(read(broken, 7)).toEqual({ text: broken.toString(), form: { encoding: 'utf-8', separator: ',' } });
  const marked = Buffer.concat([Buffer.from('\ufeffname\n'), Buffer.from([0xe9, 0xe9])]);
  expect(read(marked, 7).form).toEqual({ encoding: 'utf-8', separator: ',' });
});

it('waits for a letter that the beginning ends within', () => {
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
])('takes of %j the separator %j', (text, separator) => {
  expect(separatorOf(text)).toBe(separator);
});
