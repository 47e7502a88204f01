/** Pages of documents, marked as they are kept. */
import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { highlightPages } from './highlighting.js';
import { PackedTexts } from './packed-texts.js';

function planOf(...terms: readonly string[]): Uint8Array {
  const alternatives = terms.map((term) => ({ weight: 1, terms: [term] }));
  const groups = [{ occur: 'should' as const, boost: 1, alternatives }];
  const plan = { needTotal: true, skip: 0, size: 0, groups, filter: MATCH_ALL, sort: [], facets: [] };
  return Buffer.from(new QueryPlanWriter().write(plan));
}

function markedIn(texts: readonly string[], ...terms: readonly string[]): unknown[] {
  const pages = new PackedTexts();
  pages.add(deflateRawSync('cleared'));
  pages.clear();
  for (const text of texts) pages.add(text === '' ? Buffer.alloc(0) : deflateRawSync(text));
  return highlightPages(kernel, planOf(...terms), pages).map(
    (json) => json && (JSON.parse(Buffer.from(json.bytes).toString('utf8', json.begin, json.end)) as unknown),
  );
}

it('marks pages of every script, each in its place', () => {
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

it('marks as many pages as there are, however long, and backslashes too', () => {
  const texts = Array.from({ length: 150 }, (_, page) => `\\gannet ${page} ${Math.random()} `.repeat(300));
  const marked = markedIn(texts, 'gannet') as string[];
  expect(marked).toHaveLength(texts.length);
  for (const [page, html] of marked.entries()) {
    // By how long the numbers are, the best passage begins with the text or behind its first character.
    expect(html).toMatch(new RegExp(`^(?:\\\\|… )<em>gannet</em> ${page} `));
    expect(html).toContain(` \\<em>gannet</em> ${page} `);
  }
});
