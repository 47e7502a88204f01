/**
 * `node bench/relevance/run.mjs [collections] [typos]`: measures the order of results by relevance judgements and
 * misspelt queries, over HTTP, and prints Markdown. Without a name, measures both.
 */
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { measureCollections } from './collections.mjs';
import { measureTypos } from './typos.mjs';

helpWhereAsked();
const measurements = { collections: measureCollections, typos: measureTypos };
const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(measurements, name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(measurements).join(', ')}.\n`);
  process.exit(2);
}
const chosen = named.length === 0 ? Object.keys(measurements) : named;
const results = [];
for (const name of chosen) {
  process.stdout.write(`— ${name}\n`);
  results.push(await measurements[name]());
}
process.stdout.write(`\n${results.join('\n')}\n`);
