/** Reads the public test collections from files: `corpus.ndjson`, `queries.ndjson` and `qrels.tsv` of each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../end-to-end/lib/service.mjs';

export const COLLECTIONS = ['cran', 'cacm', 'med', 'npl', 'scifact'];
export const collectionsFolder = join(root, '..', 'shared', 'data', 'relevance');

export const linesOf = (path) => readFileSync(path, 'utf8').split('\n').filter(Boolean);
const rowsOf = (name, file) => linesOf(join(collectionsFolder, name, file)).map((line) => JSON.parse(line));

/** Returns the queries of a collection, `{id, text}` each. */
export const queriesOf = (name) => rowsOf(name, 'queries.ndjson');

/** Returns the documents as records. Title and text are searched; the name is the document's id and is not. */
export const recordsOf = (name) =>
  rowsOf(name, 'corpus.ndjson').map(({ id, title, text }) => ({
    name: id,
    fields: { title: title ?? '', text: text ?? '' },
  }));

/** Returns by query the grade of each document. */
export function judgements(name) {
  const byQuery = new Map();
  for (const line of linesOf(join(collectionsFolder, name, 'qrels.tsv')).slice(1)) {
    const [query, document, grade] = line.split('\t');
    if (!byQuery.has(query)) byQuery.set(query, new Map());
    byQuery.get(query).set(document, Number(grade));
  }
  return byQuery;
}
