import { expect, it } from 'vitest';
import { changedFields, csvHeading, csvRow, type CsvColumn } from './export-csv.js';
import type { Output } from './output.js';
import { describeProblem } from './problem.js';
import { explanationLines } from './explanation-view.js';
import { searchView } from './search-view.js';

const paper: Output = {
  isTerminal: false,
  columns: 80,
  write: () => undefined,
  settle: () => Promise.resolve(),
  note: () => undefined,
};

it('searchView shows hits with their highlights, facets and counts', () => {
  const text = searchView(paper, {
    query_id: 'x',
    total_count: 1234,
    took_ms: 0.8,
    results: [
      {
        id: '1',
        name: 'dog.n.01',
        '@text_score': 0.91234,
        distinct_count: 3,
        fields: { gloss: 'a member of the genus Canis' },
        highlights: { gloss: 'a <em>member</em> of R&amp;D &lt;b&gt;' },
      },
    ],
    facets: { part_of_speech: [{ value: 'noun', count: 1000 }] },
  });
  expect(text).toBe(
    [
      '  1  dog.n.01  3 records  0.912',
      '     gloss: a *member* of R&D <b>',
      '  part_of_speech: noun 1,000',
      '  1,234 records in 0.8 ms',
      '',
    ].join('\n'),
  );
});

it('searchView reports a hit whose record is damaged', () => {
  const id = '019dbf2e-7d3c-7000-8000-000000000001';
  const hit = { id, name: id, fields: {}, error: 'The record is damaged on disk: its words are missing.' };
  expect(searchView(paper, { query_id: 'x', total_count: 1, took_ms: 1, results: [hit] })).toBe(
    `  1  ${id}\n     The record is damaged on disk: its words are missing.\n  1 record in 1 ms\n`,
  );
});

it('searchView shows the page of a hit by a document, and the decisive score', () => {
  const document = {
    field: 'paper',
    url: 'media:default/a.pdf',
    page: 3,
    page_count: 14,
    highlight: 'of <em>traces</em>\nat run time',
  };
  const hit = { id: '1', name: 'a.pdf', '@text_score': 0.2, '@document_score': 0.94, document };
  const results = [{ ...hit, fields: { title: 'Tracing', paper: document.url }, highlights: {} }];
  expect(searchView(paper, { query_id: 'x', total_count: 1, took_ms: 1, results })).toBe(
    '  1  a.pdf  0.940\n     title: Tracing\n     paper, page 3 of 14: of *traces* at run time\n  1 record in 1 ms\n',
  );
});

it('searchView shortens long passages without breaking tags, and removes control characters', () => {
  const marked = `${'word '.repeat(12)}<em>found it here</em> and a lot more text behind it that is cut away`;
  const text = searchView(
    { ...paper, isTerminal: true },
    {
      query_id: 'x',
      total_count: 1,
      took_ms: 1,
      results: [{ id: '1', name: 'evil\u001b[2Jname', highlights: { text: marked } }],
    },
  );
  expect(text).not.toContain('\u001b[2J');
  expect(text).not.toContain('em>');
  expect(text).toContain('found');
});

it('describeProblem writes a problem as one paragraph', () => {
  const problem = {
    type: '/problems/invalid-parameter',
    title: 'A parameter or member is not valid',
    status: 400,
    detail: 'The request has a fault.',
    code: 'invalid-parameter' as const,
    errors: [{ pointer: '/size', detail: 'must be at most 1000' }],
  };
  expect(describeProblem(problem)).toBe(
    'The request has a fault. (/size: must be at most 1000) [400 invalid-parameter]',
  );
});

it('csvRow quotes what needs it and writes several values as JSON', () => {
  const columns: readonly CsvColumn[] = [
    { name: 'title', holds: 'text' },
    { name: 'tags', holds: 'several' },
  ];
  expect(csvHeading(columns)).toBe('name,title,tags\n');
  expect(csvRow({ name: 'a', fields: { title: 'say "hi", you', tags: ['x'] } }, columns)).toBe(
    'a,"say ""hi"", you",x\n',
  );
  expect(
    csvRow({ name: 'c', fields: { at: { latitude: 51.5, longitude: -0.12 } } }, [{ name: 'at', holds: 'point' }]),
  ).toBe('c,"51.5,-0.12"\n');
  expect(csvRow({ name: 'b', fields: { tags: ['x', 'y'] } }, columns)).toBe('b,,"[""x"",""y""]"\n');
});

it('csvRow escapes unpaired surrogates in several values, and changedFields reports them in other fields', () => {
  const columns: readonly CsvColumn[] = [
    { name: 'title', holds: 'text' },
    { name: 'colour', holds: 'one' },
    { name: 'tags', holds: 'several' },
  ];
  const half = 'a\uD800';
  const record = { name: 'a', fields: { title: half, colour: [half], tags: [half] } };
  expect(csvRow(record, columns)).toBe(String.raw`a,${half},${half},"[""a\ud800""]"` + '\n');
  expect(changedFields(record, columns)).toEqual(['title', 'colour']);
  expect(changedFields({ name: 'a', fields: { title: '\u{1F600}', colour: ['x'], tags: ['x'] } }, columns)).toEqual([]);
});

it('csvRow makes formulas harmless only if requested', () => {
  const formulas = ['=1+1', '+49 30', '-5 °C', '@gannet', ' =1', '\t=1', '\r\n-x', '＝1'];
  const others = ['a=b', '-5', '+1.5e3', "'=1", 'gannet', ''];
  const cells = (forSpreadsheets: boolean) => {
    const row = (text: string) =>
      csvRow({ name: 'a', fields: { text } }, [{ name: 'text', holds: 'text' }], { forSpreadsheets });
    return [...formulas, ...others].map((text) => row(text).slice('a,'.length, -1).replaceAll('"', ''));
  };
  expect(cells(false)).toEqual([...formulas, ...others]);
  expect(cells(true)).toEqual([...formulas.map((text) => `'${text}`), ...others]);
  expect(csvRow({ name: '=x', fields: {} }, [], { forSpreadsheets: true })).toBe("'=x\n");
  expect(csvHeading([{ name: '=cmd', holds: 'text' }], { forSpreadsheets: true })).toBe("name,'=cmd\n");
});

it('explanationLines show what words and meaning contributed to the score', () => {
  expect(
    explanationLines({
      groups: [
        { word: 'birds', terms: [{ term: 'bird', kind: 'stem' }] },
        { word: 'sea', terms: [{ term: 'sea', kind: 'typed' }] },
      ],
      sources: [
        { kind: 'words', score: 0.25, weight: 0.5 },
        { kind: 'meaning', score: 0.8, weight: 0.5, cosine: 0.61234, way: 'scan', compared: 1200 },
      ],
      reranker: { place_before: 3 },
    }),
  ).toEqual([
    'words 0.250 × 0.5: birds as bird (stem) · sea',
    'meaning 0.800 × 0.5: cosine 0.612, found by scan of 1,200',
    'reranker: was number 4 by score',
  ]);
  expect(
    explanationLines({
      sources: [{ kind: 'meaning', score: 1, weight: 0.333, cosine: 0.8 }],
      meaning: { like: ['a', 'b', 'c', 'd'] },
    }),
  ).toEqual(['meaning 1.000 × 0.333: cosine 0.800', 'close to: a, b, c …']);
  const byPicture = { kind: 'image', score: 0.5, weight: 1, cosine: 0.7, way: 'graph', compared: 12 };
  expect(explanationLines({ sources: [byPicture] })).toEqual([
    'pictures 0.500 × 1: cosine 0.700, found by graph of 12',
  ]);
  expect(explanationLines({})).toEqual([]);
  const told = { meaning: 'used', reranker: { name: 'long', reordered: true } };
  expect(searchView(paper, { query_id: 'x', total_count: 0, took_ms: 1, results: [], applied: told })).toContain(
    'in 1 ms, by words and meaning, reordered by long',
  );
  const found = { query_id: 'x', total_count: 0, took_ms: 1, results: [], applied: { meaning: 'used' } };
  expect(searchView(paper, found, { isByPicture: true })).toContain('in 1 ms, by what pictures look like');
});
