/** What a source can do to the thread that reads all sources. */
import { describe, expect, it } from 'vitest';
import { countedSlices } from '../../test/support/feeds/counted-slices.js';
import { readMessage } from './email/message-reader.js';
import { readJsonBody } from './json/json-body.js';
import { readPage } from './pages/page-reader.js';
import { SourceFailedError } from './source/source-run.js';
import { readFeed } from './syndication/feed-reader.js';
import { NotAFeedError } from './syndication/syndicated-feed.js';
import { htmlToText } from './text/html-text.js';
import { readXmlTree } from './xml/xml-tree.js';

const NOW_MS = Date.parse('2026-11-22T00:00:00Z');
const context = { url: 'https://a.example/', nowMs: NOW_MS };
const many = (count: number, piece: (number: number) => string) =>
  Array.from({ length: count }, (_, number) => piece(number)).join('');
const rss = (text: string) => `<rss><channel>${text}</channel></rss>`;
const COUNT = 100_000;
/** The size of the parts in which a parser gets text; there is a pause after each. */
const PIECE_CHARACTERS = 65_536;

describe('reading a source lets other work run', () => {
  it.each([
    ['items', rss(many(COUNT, () => '<item/>'))],
    ['links', rss(`<item>${many(COUNT, () => '<link/>')}</item>`)],
    ['enclosures', rss(`<item>${many(COUNT, (number) => `<enclosure url="/${number}"/>`)}</item>`)],
    ['attributes', rss(`<item ${many(COUNT, (number) => `a${number}="" `)}/>`)],
    ['entities', rss(`<item><title>${'&amp;'.repeat(COUNT)}</title></item>`)],
    ['text of an item', rss(`<item><description>&lt;p>${'word '.repeat(COUNT)}</description></item>`)],
    ['items of a JSON Feed', `{"items":[${'{},'.repeat(COUNT)}{}]}`],
    ['members of a JSON Feed', `{${many(COUNT, (number) => `"m${number}":1,`)}"items":[]}`],
  ])('for a hundred thousand %s', async (_, text) => {
    const slices = countedSlices();
    await readFeed(text, { ...context, slices });
    expect(slices.pauses).toBeGreaterThanOrEqual(Math.floor(text.length / PIECE_CHARACTERS / 2));
  });

  it('between two items', async () => {
    const slices = countedSlices();
    const { items } = await readFeed(rss(many(1000, (number) => `<item><title>${number}</title></item>`)), {
      ...context,
      slices,
    });
    expect(items).toHaveLength(1000);
    expect(slices.pauses).toBeGreaterThanOrEqual(1000);
  });

  it('within a page, a message and an answer in JSON', async () => {
    const page = countedSlices();
    await readPage('<a href=x>'.repeat(COUNT), { ...context, slices: page });
    expect(page.pauses).toBeGreaterThan(10);
    const message = countedSlices();
    const source = Buffer.from(`Content-Type: text/html\r\n\r\n${'<b>x</b>'.repeat(COUNT)}`);
    await readMessage(source, { folder: 'INBOX', receivedAt: undefined, nowMs: NOW_MS }, message);
    expect(message.pauses).toBeGreaterThan(10);
    const long = countedSlices();
    const file = `Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${`${'QUJD'.repeat(19)}\r\n`.repeat(1000)}`;
    await readMessage(Buffer.from(file), { folder: 'INBOX', receivedAt: undefined, nowMs: NOW_MS }, long);
    expect(long.pauses).toBeGreaterThanOrEqual(1000);
    const lines = countedSlices();
    expect((await readJsonBody(Buffer.from('{}\n'.repeat(1000)), { slices: lines })).value).toHaveLength(1000);
    expect(lines.pauses).toBeGreaterThanOrEqual(1000);
  });
});

describe('reading a source is limited', () => {
  it('in attributes as well as in elements', async () => {
    const { root, isWhole } = await readXmlTree(`<a><b/><c ${many(20, (number) => `a${number}="" `)}/></a>`, {
      nodesMax: 10,
    });
    expect(isWhole).toBe(false);
    expect(root?.children.map((child) => typeof child === 'object' && child.name)).toEqual(['b']);
    expect((await readPage(`<p>Text<a ${many(600_000, (number) => `a${number} `)}>`, context)).isWhole).toBe(false);
  });

  it('in elements of one item, after which the next one is read', async () => {
    const read = (links: number) => {
      const beside = `${'<link/>'.repeat(links)}<description>beside</description>`;
      return readFeed(rss(`<item><title>A</title>${beside}</item><item><title>B</title></item>`), context);
    };
    const { items, isWhole } = await read(30_000);
    expect(items).toMatchObject([{ title: 'A', summary: undefined }, { title: 'B' }]);
    expect(isWhole).toBe(true);
    expect((await read(10_000)).items).toMatchObject([{ title: 'A', summary: 'beside' }, { title: 'B' }]);
  });

  it('in the part of a short text that is examined, which never ends within a tag', () => {
    const read = (tags: number, before = 0) => htmlToText(`${' '.repeat(before)}${'<p></p>'.repeat(tags)}word`, 100);
    expect(read(100)).toBe('word');
    for (let before = 0; before < '<p></p>'.length; before += 1) expect(read(1000, before)).toBe('');
    expect(htmlToText('a &amp', 100)).toBe('a &');
  });

  it('in the depth of JSON, which is reported as a fault of the source', async () => {
    const deep = Buffer.from(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`);
    await expect(readJsonBody(deep)).rejects.toThrow(SourceFailedError);
    await expect(readJsonBody(deep)).rejects.toThrow('nested more than 100 levels deep');
    await expect(readFeed(deep.toString(), context)).rejects.toThrow(NotAFeedError);
  });

  it('in lines and parts of a message', async () => {
    const read = (text: string) =>
      readMessage(Buffer.from(text), { folder: 'INBOX', receivedAt: undefined, nowMs: NOW_MS });
    const file = `Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${`${'QUJD'.repeat(19)}\r\n`.repeat(130_000)}`;
    expect(await read(file)).toMatchObject({ isLeftOff: false, files: [{ kind: 'document' }] });
    const { isLeftOff, fields } = await read(`Subject: x\r\n\r\n${'a\r\n'.repeat(100_000)}`);
    expect([isLeftOff, fields['subject']]).toEqual([true, 'x']);
    const parts = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(3000)}--b--\r\n`;
    expect((await read(parts)).isLeftOff).toBe(true);
  });

  it('in lines of all messages within a message, including those in base64', async () => {
    const read = (text: string) =>
      readMessage(Buffer.from(text), { folder: 'INBOX', receivedAt: undefined, nowMs: NOW_MS });
    const within = (text: string) => `Content-Type: message/rfc822\r\n\r\n${text}`;
    const inBase64 = (text: string) =>
      `Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(text).toString('base64')}`;
    expect((await read(inBase64(`Subject: x\r\n\r\n${'\n'.repeat(1000)}`))).isLeftOff).toBe(false);
    expect((await read(inBase64(`Subject: x\r\n\r\n${'\n'.repeat(100_000)}`))).isLeftOff).toBe(true);
    const long = `Subject: x\r\n\r\n${`${'word '.repeat(15)}\r\n`.repeat(100_000)}`;
    expect((await read(within(within(long)))).isLeftOff).toBe(false);
    expect((await read(within(within(within(within(long)))))).isLeftOff).toBe(true);
  });
});

describe('reading a source takes linear time', () => {
  it('for comments at the beginning of a document', async () => {
    await expect(readFeed(`${'<!---->'.repeat(80)}<x/>`, context)).rejects.toThrow("kind 'x'");
    await expect(readFeed(`${'<!-- a -->\n'.repeat(3)}<html><p>`, context)).rejects.toThrow('web page');
    expect((await readFeed(`${'<!---->'.repeat(5)}${rss('<item/>')}`, context)).items).toHaveLength(1);
  });

  it("for the address before an author's name", async () => {
    const author = (text: string) =>
      readFeed(rss(`<item><author>${text}</author></item>`), context).then(({ items }) => items[0]?.authors);
    expect(await author('ann@a.example (Ann (A.) Auk) ')).toEqual(['Ann (A.) Auk']);
    expect(await author('a@b(x)')).toEqual(['a@b(x)']);
    expect(await author('@ (x)')).toEqual(['@ (x)']);
    const before = process.cpuUsage();
    await author(`${'a@'.repeat(100_000)} (`);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(2);
  });
});
