import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from './cut-text.js';
import { readDate } from './dates.js';
import { decodeText, looksBinary } from './decoded-text.js';
import { htmlToText } from './html-text.js';

const nowMs = Date.parse('2026-11-22T00:00:00Z');

describe('readDate', () => {
  it.each([
    ['Mon, 02 Nov 2026 10:00:00 GMT', '2026-11-02T10:00:00.000Z'],
    ['2 Nov 26 10:00 EST', '2026-11-02T15:00:00.000Z'],
    ['Tue, 02 November 1999 10:00:00 +0530', '1999-11-02T04:30:00.000Z'],
    ['Sunday, 02-Nov-08 10:00:00 CEST', '2008-11-02T08:00:00.000Z'],
    ['November 2, 2026 at 3:05 pm', '2026-11-02T15:05:00.000Z'],
    ['12:00, 2 Nov 2026', '2026-11-02T00:00:00.000Z'],
    ['2026-11-02T10:00:00.123456+01:00', '2026-11-02T09:00:00.000Z'],
    ['2026-11-02 10:00:00', '2026-11-02T10:00:00.000Z'],
    ['20261102T100000', undefined],
    ['20261102', '2026-11-02T00:00:00.000Z'],
    ['2026-11', '2026-11-01T00:00:00.000Z'],
    ['2026', '2026-01-01T00:00:00.000Z'],
    ['2041-01-01', undefined],
    ['0001-01-01T00:00:00Z', undefined],
    ['2026-02-31', undefined],
    ['2026-13-01', undefined],
    ['yesterday', undefined],
    ['', undefined],
  ])('reads %j as %s', (text, expected) => {
    expect(readDate(text, nowMs)).toBe(expected);
  });

  it('reads back the dates that it writes, and never throws', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date('1900-01-02'), max: new Date(nowMs), noInvalidDate: true }), (date) => {
        expect(Date.parse(readDate(date.toISOString(), nowMs) ?? '')).toBe(Math.floor(date.getTime() / 1000) * 1000);
        expect(Date.parse(readDate(date.toUTCString(), nowMs) ?? '')).toBe(Math.floor(date.getTime() / 1000) * 1000);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = readDate(text, nowMs);
        expect(read === undefined || !Number.isNaN(Date.parse(read))).toBe(true);
      }),
    );
  });
});

describe('decodeText', () => {
  const latin = (text: string) => Buffer.from(text, 'latin1');
  it.each([
    ['UTF-8 without a word', Buffer.from('Möwe'), '', 'Möwe'],
    [
      'UTF-8 that is declared as something else',
      Buffer.from('<meta charset=iso-8859-1>Möwe'),
      'text/html; charset=ISO-8859-1',
      'Möwe',
    ],
    ['what the server says', latin('M\xf6we'), 'text/html; charset="iso-8859-15"', 'Möwe'],
    [
      'what the page says',
      latin('<meta http-equiv=Content-Type content="text/html; charset=koi8-r">\xcd\xd2'),
      'text/html',
      'мр',
    ],
    ['what XML says', latin('<?xml version="1.0" encoding="windows-1251"?>\xec'), '', 'м'],
    [
      'two that differ: the one that fits',
      latin('<meta charset=windows-1252>\x93M\xf6we\x94'),
      'text/html; charset=utf-8',
      '“Möwe”',
    ],
    ['nothing: most old pages', latin('<p>M\xf6we \x80 5'), '', 'Möwe € 5'],
    [
      'UTF-8 that it is not',
      latin('M\xf6wen und K\xfcstenv\xf6gel'),
      'text/html; charset=utf-8',
      'Möwen und Küstenvögel',
    ],
    [
      'UTF-8 with one bad byte',
      Buffer.concat([Buffer.from('Möwe'), Buffer.from([0xc3])]),
      'text/html; charset=utf-8',
      'Möwe\ufffd',
    ],
    ['an unknown one', Buffer.from('Möwe'), 'text/html; charset=klingon', 'Möwe'],
    ['UTF-16 with a mark', Buffer.from('\ufeffMöwe', 'utf16le'), 'text/html; charset=utf-8', 'Möwe'],
    ['UTF-16 without a mark', Buffer.from('<a>Möwe', 'utf16le'), '', '<a>Möwe'],
    ['Shift JIS', Buffer.from([0x82, 0xa0]), 'text/html; charset=Shift_JIS', 'あ'],
    ['ISO-2022-JP', latin('<meta charset=iso-2022-jp>\x1b$B$"\x1b(B'), '', 'あ'],
  ])('reads %s', (_, bytes, contentType, expected) => {
    expect(decodeText(bytes, contentType).text.replace(/<meta[^>]*>|<\?xml[^>]*>|<p>/, '')).toBe(expected);
  });

  it('reads any bytes, whatever their declared encoding', () => {
    const said = fc.constantFrom(
      '',
      'text/html; charset=utf-16',
      'x; charset=gbk',
      'text/html;charset=replacement',
      'charset=x-user-defined',
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), said, (bytes, contentType) => {
        expect(typeof decodeText(bytes, contentType).text).toBe('string');
      }),
    );
  });
});

describe('looksBinary', () => {
  const TYPE = 'text/html; charset=utf-8';
  const isBinary = (bytes: Uint8Array, contentType = TYPE) => looksBinary(decodeText(bytes, contentType));

  it('distinguishes random bytes from texts, whatever their declared encoding', () => {
    const said = fc.constantFrom('', TYPE, 'text/html; charset=gbk', 'text/plain; charset=iso-8859-1');
    fc.assert(
      fc.property(fc.integer(), said, (seed, contentType) => {
        const random = createHash('shake256', { outputLength: 1500 }).update(String(seed)).digest();
        // Without this, the bytes could begin with a byte order mark of UTF-16.
        random[0] = 0x78;
        expect(isBinary(random, contentType)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 2000 }), (text) => {
        expect(isBinary(Buffer.from(text.replaceAll(/\p{Cc}/gu, ' ')))).toBe(false);
      }),
    );
  });

  it.each<[string, Buffer, boolean]>([
    ['what is packed', gzipSync(Buffer.from('<p>Gannets dive from thirty metres.</p>')), true],
    ['a picture', Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64'), true],
    ['UTF-16', Buffer.from('\ufeff<p>Möwe</p>'.repeat(40), 'utf16le'), false],
    ['ISO-2022-JP', Buffer.from('<meta charset=iso-2022-jp>\x1b$B$"\x1b(B'.repeat(90), 'latin1'), false],
    ['stray control characters', Buffer.from(`<p>Gan\x0bnets\x1f and\0 ${'text '.repeat(20)}`), false],
    ['blank lines, tabs and form feeds', Buffer.from('\r\n\t\f'.repeat(50)), false],
  ])('recognizes %s', (_, bytes, expected) => {
    expect(isBinary(bytes)).toBe(expected);
  });
});

describe('htmlToText', () => {
  it.each([
    ['<p>One<br>two</p><p>three &amp; four&nbsp;five</p>', 'One\ntwo\nthree & four five'],
    ['<script>x</script>A<style>y</style> B <b>C</b>D', 'A B CD'],
    ['plain\n\n  text', 'plain\ntext'],
    ['5 < 6 & 7 > 3', '5 < 6 & 7 > 3'],
    ['<p title="a>b">c', 'c'],
  ])('of %j is %j', (html, expected) => {
    expect(htmlToText(html, 100)).toBe(expected);
  });

  it('cuts a text without leaving half a character', () => {
    expect(cutText('a😀', 2)).toBe('a\ufffd');
    expect(htmlToText('<b>a😀b', 2)).toBe('a\ufffd');
  });

  it('takes a time that grows linearly, however the HTML is nested', () => {
    const before = process.cpuUsage();
    expect(htmlToText(`text${'<b>'.repeat(300_000)}`, 100)).toBe('text');
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(3);
  });
});
