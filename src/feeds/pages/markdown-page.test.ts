import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markdownAsHtml } from './markdown-page.js';
import { readPage } from './page-reader.js';

const page = (markdown: string) =>
  readPage(markdownAsHtml(markdown), { url: 'https://a.example/docs/page.md', nowMs: Date.parse('2026-11-22') });

describe('a Markdown page', () => {
  it('has its first heading as title, headings with anchors, links and text', async () => {
    const read = await page(
      '# The `title`\n\nSome *text* with [a link](other.md#x "why") & <more>.\n\n## Part 1\n\nBody\n\n## Part 1\n\n```\n# no heading [no](link.md)\n```\n',
    );
    expect(read.title).toBe('The title');
    expect(read.links.map(({ url }) => url)).toEqual(['https://a.example/docs/other.md#x']);
    expect(read.text).toContain('with a link & <more>.');
    expect(read.text).toContain('# no heading [no](link.md)');
    expect(read.headings).toEqual(expect.arrayContaining(['The title', 'Part 1']));
    const closed = ['## A ##', '## A # ', '## A#', '## A\\t#x', '## ###'].map((line) =>
      markdownAsHtml(line.replace('\\t', '\t')),
    );
    expect(closed.map((html) => /<h2[^>]*>(.*)<\/h2>/.exec(html)?.[1])).toEqual(['A', 'A', 'A#', 'A\t#x', '###']);
    expect(markdownAsHtml('## A\n## A')).toMatch(/id="a".*id="a-1"/s);
  });

  it('is read in a time that only grows with its length, whatever it contains', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 2000 }), async (text) => typeof (await page(text)).text === 'string'),
    );
    const before = process.cpuUsage();
    await page('[a]('.repeat(200_000));
    await page('['.repeat(200_000));
    await page(`# A${'\t'.repeat(19_000)}#B\n`.repeat(100));
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000);
  });
});
