/** Tests that new measurements replace their sections of the page of benchmarks, and other sections stay. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pageOf, sectionsOf, withMeasured } from '../bench/report/page.mjs';

const PAGE = `# Figures

Words before.

## First

| a |
| --- |

## By hand

It was measured so.

## Last

| z |
`;
const ORDER = ['First', 'Second', 'Last', 'Never'];
const titlesOf = (sections) => sections.map(({ title }) => title);

it('withMeasured keeps sections in place that were not measured', () => {
  const sections = withMeasured(sectionsOf(PAGE), new Map([['First', '| b |']]), ORDER);
  expect(sections).toEqual([
    { title: 'First', text: '| b |' },
    { title: 'By hand', text: 'It was measured so.' },
    { title: 'Last', text: '| z |' },
  ]);
});

it('withMeasured inserts new sections in order', () => {
  const measured = new Map([
    ['Second', 'two'],
    ['Never', 'end'],
  ]);
  expect(titlesOf(withMeasured(sectionsOf(PAGE), measured, ORDER))).toEqual([
    'First',
    'Second',
    'By hand',
    'Last',
    'Never',
  ]);
  expect(titlesOf(withMeasured([], measured, ORDER))).toEqual(['Second', 'Never']);
});

it('pageOf restores the page from its unchanged sections', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'benchmarks.md'), 'utf8');
  const sections = sectionsOf(page);
  expect(sections.length).toBeGreaterThan(10);
  expect(pageOf(page.slice(0, page.indexOf('\n## ')), withMeasured(sections, new Map(), []))).toBe(page);
});
