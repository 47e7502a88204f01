/**
 * `npm run bench -- [import] [start] [search] [suggest] [load] [indexing] [rebuild] [analytics] [webhooks] [--fresh]`: measures the service from outside,
 * over HTTP, and prints Markdown.
 * Without a name, measures all parts.
 */
import { measureAnalytics } from '../analytics/throughput.mjs';
import { helpWhereAsked } from './lib/options.mjs';
import { measureImport } from './import.mjs';
import { measureIndexing } from './indexing.mjs';
import { measureLoad } from './load.mjs';
import { measureRebuild } from './rebuild.mjs';
import { measureSearch } from './search.mjs';
import { measureWebhooks } from '../webhooks/throughput.mjs';
import { measureStart } from './start.mjs';
import { measureSuggest } from './suggest.mjs';

helpWhereAsked();
const measurements = {
  import: measureImport,
  start: measureStart,
  search: measureSearch,
  suggest: measureSuggest,
  load: measureLoad,
  indexing: measureIndexing,
  rebuild: measureRebuild,
  analytics: measureAnalytics,
  webhooks: measureWebhooks,
};
const args = process.argv.slice(2);
const named = args.filter((argument) => !argument.startsWith('--'));
const unknown = named.filter((name) => !Object.hasOwn(measurements, name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(measurements).join(', ')}.\n`);
  process.exit(2);
}
const chosen = named.length === 0 ? Object.keys(measurements) : named;
const results = [];
for (const name of chosen) {
  process.stdout.write(`— ${name}\n`);
  results.push(await measurements[name]({ fresh: args.includes('--fresh') }));
}
process.stdout.write(`\n${results.join('\n')}\n`);
