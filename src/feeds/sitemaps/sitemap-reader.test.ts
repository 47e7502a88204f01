import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSitemap, SITEMAP_BYTES_MAX, SITEMAP_ENTRIES_MAX } from './sitemap-reader.js';

const nowMs = Date.parse('2026-11-22T00:00:00Z');

async function* pieces(bytes: Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size)
    yield await Promise.resolve(bytes.subarray(start, start + size));
}

const read = (content: string | Uint8Array, size?: number) => readSitemap(pieces(Buffer.from(content), size), nowMs);
const SITEMAP = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="x">
<url><loc> https://a.example/1?a=1&amp;b=2 </loc><lastmod>2026-11-02</lastmod><image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>
<url><loc><![CDATA[https://a.example/2?a=1&b=2]]></loc></url><url><loc>https://a.example/3?a=1&b=2</loc></url></urlset>`;
const LOCATIONS = [1, 2, 3].map((number) => `https://a.example/${number}?a=1&b=2`);

describe('readSitemap', () => {
  it('reads XML in parts of any size, gzipped or not', async () => {
    for (const bytes of [Buffer.from(SITEMAP), gzipSync(SITEMAP)]) {
      for (const size of [1, 13, 100_000]) {
        const { entries, outcome } = await read(bytes, size);
        expect([outcome, entries.map(({ location }) => location)]).toEqual(['whole', LOCATIONS]);
        expect(entries.map(({ modified }) => modified)).toEqual(['2026-11-02T00:00:00.000Z', undefined, undefined]);
      }
    }
  });

  it('distinguishes sitemaps from pages in an index, and reads plain text', async () => {
    const index =
      '<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap><url><loc>x</loc></url></sitemapindex>';
    expect((await read(index)).entries).toEqual([
      { kind: 'sitemap', location: 'https://a.example/s.xml', modified: undefined },
    ]);
    const { entries, outcome } = await read('\ufeffhttps://a.example/1\r\n\r\nhttps://a.example/2');
    expect([outcome, entries.map(({ location }) => location)]).toEqual([
      'whole',
      ['https://a.example/1', 'https://a.example/2'],
    ]);
  });

  it('reports a sitemap that breaks off, and returns what it has', async () => {
    const cut = SITEMAP.slice(0, SITEMAP.indexOf('/3'));
    for (const bytes of [Buffer.from(cut), gzipSync(SITEMAP).subarray(0, 120)]) {
      const { entries, outcome } = await read(bytes);
      expect(outcome).toBe('cut-off');
      expect(entries.length).toBeLessThan(3);
    }
  });

  it.each(['', '<html><body>Not here</body></html>', '{"error": 1}', 'Forbidden'])(
    'reports %j as no sitemap',
    async (content) => {
      expect(await read(content)).toEqual({ entries: [], outcome: 'not-a-sitemap' });
    },
  );

  it('limits the number of entries and the unpacked bytes', async () => {
    const entry = '<url><loc>https://a.example/</loc></url>';
    const full = await read(`<urlset>${entry.repeat(SITEMAP_ENTRIES_MAX)}</urlset>`, 65_536);
    expect([full.entries.length, full.outcome]).toEqual([SITEMAP_ENTRIES_MAX, 'whole']);
    const over = await read(`<urlset>${entry.repeat(SITEMAP_ENTRIES_MAX + 1)}</urlset>`, 65_536);
    expect([over.entries.length, over.outcome]).toEqual([SITEMAP_ENTRIES_MAX, 'too-large']);
    const bomb = gzipSync(Buffer.alloc(SITEMAP_BYTES_MAX + 1_000_000, 0x20));
    expect(bomb.length).toBeLessThan(100_000);
    expect((await read(bomb, 65_536)).outcome).toBe('too-large');
  });

  it('stops at elements that are nested deeper than in any sitemap', async () => {
    const nested = (depth: number) => `<urlset>${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}</urlset>`;
    expect((await read(nested(500), 1000)).outcome).toBe('whole');
    expect((await read(nested(600), 1000)).outcome).toBe('too-large');
    // The time of the parser grows with the square of the depth: read to its end, this one would take minutes.
    expect((await read(nested(1_000_000), 10_000_000)).outcome).toBe('too-large');
  });

  it('expands no entities', async () => {
    const { entries } = await read(
      '<!DOCTYPE urlset [<!ENTITY x "https://b.example/">]><urlset><url><loc>&x;</loc></url></urlset>',
    );
    expect(entries.map(({ location }) => location)).toEqual(['&x;']);
  });

  it('rejects with the error of its source', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(gzipSync(SITEMAP).subarray(0, 50));
      throw new Error('the connection broke');
    }
    await expect(readSitemap(broken(), nowMs)).rejects.toThrow('the connection broke');
  });

  it('reads any bytes', async () => {
    const piece = fc.constantFrom(
      '<urlset>',
      '<url>',
      '<loc>',
      '</loc>',
      '</url>',
      '</urlset>',
      '<![CDATA[',
      'https://a.example/',
      '<!DOCTYPE',
      '\x1f\x8b',
      '&#0;',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string()), { maxLength: 20 }), async (parts) => {
        const { entries } = await read(Buffer.from(parts.join(''), 'latin1'));
        for (const { location } of entries) expect(location.length).toBeLessThanOrEqual(2048);
      }),
    );
  });
});
