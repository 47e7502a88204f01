/** Pages of documents, marked as they are kept. */
import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { highlightPages } from './highlighting.js';

function planOf(...terms: readonly string[]): Uint8Array {
  const alternatives = terms.map((term) => ({ weight: 1, terms: [term] }));
  const groups = [{ occur: 'should' as const, boost: 1, alternatives }];
  const plan = { needTotal: true, skip: 0, size: 0, groups, filter: MATCH_ALL, sort: [], facets: [] };
  return Buffer.from(new QueryPlanWriter().write(plan));
}

it('marks pages of every script, each in its place', () => {
  const texts = ['The "gannet" <flies>', '', '我爱中国', 'None of it', 'Two gannet colonies', '中国 and a gannet'];
  const pages = texts.map((text) => (text === '' ? Buffer.alloc(0) : deflateRawSync(text)));
  expect(highlightPages(kernel, planOf('gannet', '中国'), pages)).toEqual([
    'The &quot;<em>gannet</em>&quot; &lt;flies&gt;',
    undefined,
    '我爱<em>中国</em>',
    undefined,
    'Two <em>gannet</em> colonies',
    '<em>中国</em> and a <em>gannet</em>',
  ]);
  expect(highlightPages(kernel, planOf('gannet'), [])).toEqual([]);
});
