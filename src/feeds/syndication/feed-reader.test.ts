import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brokenFeeds, SAMPLES, TITLES } from '../../../test/support/feeds/syndication-samples.js';
import { decodeText } from '../text/decoded-text.js';
import { readFeed } from './feed-reader.js';
import { NotAFeedError } from './syndicated-feed.js';

const context = { url: 'https://birds.example/feed', nowMs: Date.parse('2026-11-22T00:00:00Z') };
const read = (text: string) => readFeed(text, context);

describe('readFeed', () => {
  it.each(SAMPLES)('reads $name', async ({ name, text }) => {
    const { items, isWhole, title } = await read(text);
    expect([isWhole, title]).toEqual([true, 'Sea birds']);
    expect(items.map((item) => item.title)).toEqual(TITLES);
    expect(items.map((item) => item.url)).toEqual(
      [0, 1, 2].map((number) => `https://birds.example/news/${number}?a=1&b=${number}`),
    );
    if (!/0\.91/.test(name)) {
      const moments = items.map((item) => item.published ?? item.updated);
      expect(moments).toEqual(['2026-11-02T10:00:00.000Z', '2026-11-03T08:00:00.000Z', '2026-11-04T15:00:00.000Z']);
      expect(items.map((item) => item.authors)).toEqual([['Ann Auk'], ['Ann Auk'], ['Ann Auk']]);
      expect(new Set(items.map((item) => item.guid)).size).toBe(3);
    }
    expect(items[0]?.text).toMatch(/^About /);
    expect(items[0]?.text).not.toMatch(/[<>]/);
  });

  it('reads at least two items of each of 200 broken feeds', async () => {
    const feeds = brokenFeeds();
    const unread: string[] = [];
    for (const { name, bytes, contentType } of feeds) {
      try {
        const { items } = await read(decodeText(bytes, contentType).text);
        const good = items.filter(
          (item) => item.title !== undefined && item.url?.startsWith('https://birds.example/') === true,
        );
        if (good.length < 2) unread.push(`${name}: ${good.length} items of ${items.length}`);
      } catch (error) {
        unread.push(`${name}: ${String(error)}`);
      }
    }
    expect(feeds.length).toBeGreaterThanOrEqual(200);
    expect(unread).toEqual([]);
  });

  it('distinguishes a feed that breaks off from a complete one', async () => {
    for (const { name, bytes, contentType } of brokenFeeds()) {
      if (/cut in|no closing tag/.test(name))
        expect((await read(decodeText(bytes, contentType).text)).isWhole, name).toBe(false);
    }
  });

  it.each(SAMPLES.filter(({ name }) => !name.startsWith('JSON')))(
    'returns items as in the complete feed or not at all, wherever $name is cut',
    async ({ text }) => {
      const whole = (await read(text)).items;
      const counts = new Set<number>();
      for (let length = text.indexOf('Sea birds'); length < text.trimEnd().length; length += 1) {
        const { items, isWhole } = await read(text.slice(0, length));
        expect(isWhole).toBe(false);
        expect(items).toEqual(whole.slice(0, items.length));
        counts.add(items.length);
      }
      expect([...counts]).toEqual([0, 1, 2, 3]);
    },
  );

  it.each([
    ['</channel></rss>', ['A', 'B']],
    // Nothing tells whether the item is complete.
    ['', ['A']],
  ])('reads an unclosed item before %j as %j', async (end, titles) => {
    const { items } = await read(`<rss><channel><item><title>A</title></item><item><title>B</title>${end}`);
    expect(items.map(({ title }) => title)).toEqual(titles);
  });

  it.each([
    ['', 'empty'],
    ['<!DOCTYPE html><html><body>Please sign in</body></html>', 'web page'],
    ['  <!-- x -->\n<HTML lang="en"><head>', 'web page'],
    ['<urlset><url/></urlset>', "kind 'urlset'"],
    ['{"error": "no such feed"}', 'no array of items'],
    ['{"items": [', 'cannot be read as JSON'],
    ['Service unavailable', 'neither XML nor JSON'],
  ])('reports %j as %s', async (text, said) => {
    await expect(read(text)).rejects.toThrow(NotAFeedError);
    await expect(read(text)).rejects.toThrow(said);
  });

  it('reads enclosures, pictures and the language', async () => {
    const { items, language } = await read(
      `<rss xmlns:m="http://search.yahoo.com/mrss/" xmlns:i="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><language> de </language><item><title>A</title><enclosure url="/a.mp3" length="77" type="audio/mpeg"/><m:group><m:content url="b.jpg" type="image/jpeg"/><m:content url="b.jpg"/></m:group><i:image href="https://x.example/c.png"/></item></channel></rss>`,
    );
    expect(language).toBe('de');
    expect(items[0]?.enclosures).toEqual([
      { url: 'https://birds.example/a.mp3', type: 'audio/mpeg', bytes: 77 },
      { url: 'https://birds.example/b.jpg', type: undefined, bytes: undefined },
    ]);
    expect(items[0]?.image).toBe('https://x.example/c.png');
  });

  it('expands no entities of a document type', async () => {
    const { items } = await read(
      '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "yy">]><rss><channel><item><title>a &x; &y; b</title></item></channel></rss>',
    );
    expect(items[0]?.title).toBe('a &x; &y; b');
  });

  it('ignores URLs that are not http, and guids that are no URL', async () => {
    const { items } = await read(
      '<rss><channel><item><link>javascript:alert(1)</link><guid>https://x.example/1</guid></item><item><guid>abc</guid></item></channel></rss>',
    );
    expect(items.map((item) => item.url)).toEqual(['https://x.example/1', undefined]);
  });

  it('stops at endless nesting, in a time that grows linearly', async () => {
    const before = process.cpuUsage();
    expect((await read(`<rss><channel><item><title>A</title></item>${'<i>'.repeat(2_000_000)}`)).isWhole).toBe(false);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(2);
  });

  it('throws nothing but NotAFeedError', async () => {
    const piece = fc.constantFrom(
      '<rss>',
      '<channel>',
      '<item>',
      '<title>',
      '</item>',
      '<![CDATA[',
      ']]>',
      '<!DOCTYPE',
      '&#x0;',
      '&#xd800;',
      '<?',
      '<a b=',
      '{',
      '"items":',
      '[',
      '\u0000',
      '<link href="//">',
      'xmlns:x="',
      '<entry>',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), async (pieces) => {
        try {
          await read(pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(NotAFeedError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
