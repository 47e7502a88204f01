/** Highlighting of pages of documents, in each encoding in which they are stored. */
import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { PAGE_DEFLATED, PAGE_PLAIN, type PagePacking } from '../../extracts/index.js';
import { readPackedFormat } from '../../records/index.js';
import { highlightPages } from './highlighting.js';
import { PackedTexts } from './packed-texts.js';

function planOf(...terms: readonly string[]): Uint8Array {
  const alternatives = terms.map((term) => ({ weight: 1, terms: [term] }));
  const groups = [{ occur: 'should' as const, boost: 1, alternatives }];
  const plan = { needTotal: true, skip: 0, size: 0, groups, filter: MATCH_ALL, sort: [], facets: [] };
  return Buffer.from(new QueryPlanWriter().write(plan));
}

const plain = (text: string) => ({ packed: Buffer.from(text), packing: PAGE_PLAIN as PagePacking, textBytes: 0 });
const deflated = (text: string) => ({ packed: deflateRawSync(text), packing: PAGE_DEFLATED, textBytes: 0 });
const words = (() => {
  const text = Buffer.from('a gannet, two gannet colonies and gannet 中国 '.repeat(100));
  return kernel.learnWords(text, Uint32Array.of(0), Uint32Array.of(text.length));
})();
const packed = (text: string) => {
  const bytes = Buffer.from(text);
  const ends = Uint32Array.of(bytes.length);
  // A row that does not become shorter by packing has no header.
  const row = bytes.subarray(0, kernel.packRecords(words, 1, bytes, Uint32Array.of(0), ends));
  if (row.length === Buffer.byteLength(text)) return plain(text);
  const { fieldsBegin, shortBytes } = readPackedFormat(row);
  return { packed: row.subarray(fieldsBegin), packing: words, textBytes: shortBytes };
};

function markedIn(texts: readonly string[], ...terms: readonly string[]): unknown[] {
  const pages = new PackedTexts();
  pages.add({ packed: deflateRawSync('cleared'), packing: PAGE_DEFLATED, textBytes: 0 });
  pages.clear();
  // The pages are stored in each of the possible encodings.
  const ways = [plain, deflated, packed];
  for (const [index, text] of texts.entries()) pages.add((ways[index % ways.length] as typeof plain)(text));
  return highlightPages(kernel, planOf(...terms), pages).map(
    (json) => json && (JSON.parse(Buffer.from(json.bytes).toString('utf8', json.begin, json.end)) as unknown),
  );
}

it('highlightPages highlights pages of every script, in their order', () => {
  const texts = ['The "gannet" <flies>', '', '我爱中国', 'None of it', 'Two gannet colonies', '中国 and a gannet'];
  expect(markedIn(texts, 'gannet', '中国')).toEqual([
    'The &quot;<em>gannet</em>&quot; &lt;flies&gt;',
    undefined,
    '我爱<em>中国</em>',
    undefined,
    'Two <em>gannet</em> colonies',
    '<em>中国</em> and a <em>gannet</em>',
  ]);
  expect(markedIn([], 'gannet')).toEqual([]);
});

it('highlightPages highlights any number of long pages, and texts with backslashes', () => {
  const texts = Array.from({ length: 150 }, (_, page) => `\\gannet ${page} ${Math.random()} `.repeat(300));
  const marked = markedIn(texts, 'gannet') as string[];
  expect(marked).toHaveLength(texts.length);
  for (const [page, html] of marked.entries()) {
    // Depending on the length of the numbers, the best passage begins at the first or at the second character.
    expect(html).toMatch(new RegExp(`^(?:\\\\|… )<em>gannet</em> ${page} `));
    expect(html).toContain(` \\<em>gannet</em> ${page} `);
  }
});

it('highlightPages returns null for a page that cannot be read, and highlights the others', () => {
  const pages = new PackedTexts();
  const good = packed('Two gannet colonies, and gannet after gannet');
  expect(good.packing).toBe(words);
  const { textBytes } = good;
  pages.add(good);
  pages.add({ packed: Buffer.of(1), packing: null, textBytes: 0 });
  pages.add({ packed: good.packed.subarray(1), packing: words, textBytes });
  pages.add({ packed: Buffer.from('no deflate'), packing: PAGE_DEFLATED, textBytes: 0 });
  pages.add({ packed: good.packed, packing: words, textBytes: textBytes + 1 });
  pages.add({ packed: good.packed, packing: words, textBytes: 2 ** 32 - 1 });
  pages.add(plain('a gannet'));
  const marked = highlightPages(kernel, planOf('gannet'), pages);
  expect(marked.slice(1, -1)).toEqual([null, null, null, null, null]);
  const htmlOf = (json: (typeof marked)[number]) =>
    json && Buffer.from(json.bytes).toString('utf8', json.begin, json.end);
  expect([htmlOf(marked[0]), htmlOf(marked.at(-1))]).toEqual([
    '"Two <em>gannet</em> colonies, and <em>gannet</em> after <em>gannet</em>"',
    '"a <em>gannet</em>"',
  ]);
});
