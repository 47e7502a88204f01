import { beforeAll, describe, expect, it } from 'vitest';
import { fileOf, pdfOf, stream } from '../../test/support/pdf.js';
import { Pdfium } from './pdfium.js';
import { readDocument } from './read-document.js';
import { DocumentError, type DocumentLimits } from './types.js';

const LIMITS: DocumentLimits = { pagesMax: 200, charactersMax: 1e6, msMax: 60_000 };
let pdfium: Pdfium;
beforeAll(async () => {
  pdfium = await Pdfium.load();
});

const read = (bytes: Uint8Array, limits: Partial<DocumentLimits> = {}) =>
  readDocument(pdfium, bytes, { ...LIMITS, ...limits });

function faultOf(bytes: Uint8Array): string {
  try {
    read(bytes);
  } catch (error) {
    if (error instanceof DocumentError) return error.fault;
    throw error;
  }
  return 'none';
}

describe('a document', () => {
  it('has the text of each page with its number', () => {
    const document = pdfOf([{ lines: ['The first page', 'with two lines'] }, { lines: [] }, { lines: ['The third'] }]);
    expect(read(document)).toEqual({
      pageCount: 3,
      pages: [
        { page: 1, text: 'The first page\nwith two lines' },
        { page: 2, text: '' },
        { page: 3, text: 'The third' },
      ],
      truncated: false,
    });
  });

  it.each([90, 180, 270])('has the text of a page that is rotated by %d degrees', (rotated) => {
    expect(read(pdfOf([{ lines: ['Turned around', 'line by line'], rotated }])).pages[0]?.text).toBe(
      'Turned around\nline by line',
    );
  });

  it('has what was typed into the fields of its form', () => {
    const text = read(pdfOf([{ lines: ['Name:'], values: ['Ada Lovelace', 'London (UK)'] }])).pages[0]?.text;
    expect(text).toBe('Name:\nAda Lovelace\nLondon (UK)');
  });

  it('is read up to the limits of pages and characters, and says so if there is more', () => {
    const document = pdfOf(Array.from({ length: 5 }, (_, index) => ({ lines: [`This is page ${index + 1}`] })));
    const first = read(document, { pagesMax: 2 });
    expect(first).toMatchObject({ pageCount: 5, truncated: true });
    expect(first.pages.map(({ text }) => text)).toEqual(['This is page 1', 'This is page 2']);
    const short = read(document, { charactersMax: 20 });
    expect(short.truncated).toBe(true);
    expect(short.pages.map(({ text }) => text)).toEqual(['This is page 1', 'This i']);
  });

  it('is truncated if its last page is cut, and not if it just fits', () => {
    const document = pdfOf([{ lines: ['The only page'] }]);
    expect(read(document, { charactersMax: 13 })).toMatchObject({
      pages: [{ text: 'The only page' }],
      truncated: false,
    });
    expect(read(document, { charactersMax: 8 })).toMatchObject({ pages: [{ text: 'The only' }], truncated: true });
  });

  it('with a thousand long form fields is read only up to the limit', () => {
    const value = 'v'.repeat(1000);
    const text = read(pdfOf([{ lines: ['Form'], values: Array.from({ length: 1000 }, () => value) }]), {
      charactersMax: 5000,
    });
    expect(text.truncated).toBe(true);
    expect(text.pages[0]?.text).toHaveLength(5000);
  });

  it('with a million zeros in the value of a form field is read in a short time', () => {
    const value = Buffer.concat([Buffer.from('\xfe\xff\0a', 'latin1'), Buffer.alloc(700_000), Buffer.from('\0b')]);
    const text = read(pdfOf([{ lines: ['Form'], values: [value.toString('latin1')] }])).pages[0]?.text ?? '';
    expect(text).toMatch(/^Form\na\s+b$/u);
  });

  it('is recognized by its bytes, even after other ones or without its header', () => {
    const document = pdfOf([{ lines: ['Found by its bytes'] }]);
    const found = (bytes: Uint8Array) => read(bytes).pages[0]?.text;
    expect(found(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), document]))).toBe('Found by its bytes');
    expect(found(document.subarray('%PDF-1.4\n'.length))).toBe('Found by its bytes');
  });
});

describe('a document that cannot be read', () => {
  const catalogue = '<< /Type /Catalog /Pages 2 0 R >>';
  it.each([
    ['not-a-pdf', 'is something else', Buffer.from('<!doctype html><title>Not found</title>')],
    ['not-a-pdf', 'is empty', Buffer.alloc(0)],
    ['damaged', 'has a header alone', Buffer.from('%PDF-1.7\n')],
    ['damaged', 'has no pages', fileOf(['<< /Type /Catalog >>'])],
    [
      'damaged',
      'is a tree of pages without end',
      fileOf([catalogue, '<< /Type /Pages /Kids [2 0 R] /Count 2147483647 >>']),
    ],
    [
      'no-text',
      'has drawings alone',
      fileOf([
        catalogue,
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
        stream('0 0 9 9 re f'),
      ]),
    ],
    [
      'encrypted',
      'wants a password',
      pdfOf(
        [{ lines: ['secret'] }],
        `/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}> >>`,
      ),
    ],
  ])('fails as %s if it %s', (fault, _what, bytes) => {
    expect(faultOf(bytes)).toBe(fault);
  });

  it('leaves the library usable: thousands of documents more take no more memory', () => {
    const good = pdfOf([{ lines: ['Read again and again'] }]);
    const bad = good.subarray(0, good.length / 2);
    const round = (times: number) => {
      for (let each = 0; each < times; each += 1) {
        faultOf(bad);
        expect(read(good).pages[0]?.text).toBe('Read again and again');
      }
    };
    round(200);
    const before = process.memoryUsage().rss;
    round(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
  });
});
