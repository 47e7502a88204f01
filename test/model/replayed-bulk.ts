/** Runs bulk calls of a sequence: records, and invalid lines, each of which must fail alone. */
import { same } from './difference.js';
import type { NewRecord, Operation, Stray } from './operations.js';
import { asSent } from './replay-listing.js';
import { answered, type ReplayState } from './replay-state.js';

type Bulk = Extract<Operation, { kind: 'bulk' }>;
interface Failure {
  readonly line: number;
  readonly name: string | null;
}
interface Outcome {
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  readonly errors: readonly Failure[];
}

export async function bulk(state: ReplayState, operation: Bulk): Promise<void> {
  const { list, records, format, strays = [], isPatch = false } = operation;
  const reference = state.list(list);
  const flat = ({ name, fields }: NewRecord) => ({ name, ...fields });
  const isArray = format === 'json';
  const lines = records.flatMap((record, at): (NewRecord | Stray)[] => [
    ...strays
      .filter(({ before, stray }) => before === at && !(isArray && stray.isNoJson === true))
      .map(({ stray }) => stray),
    record,
  ]);
  const texts = lines.map((line) =>
    'text' in line ? line.text : JSON.stringify(format === 'flat' ? flat(line) : asSent(line)),
  );
  const sent = isArray ? `[${texts.join(',')}]` : `${texts.join('\n')}\n`;
  const type = isArray ? 'application/json' : 'application/x-ndjson';
  const query = isPatch ? { patch: true } : {};
  const path = `/search-result/default/${state.name(list)}/bulk`;
  const asked = state.client.send('POST', path, { query, bytes: sent, headers: { 'Content-Type': type } });
  const { body } = await answered(asked, 200);
  const failures: Failure[] = [];
  let created = 0;
  let updated = 0;
  for (const [at, line] of lines.entries()) {
    if ('text' in line) {
      if (line.isBlank !== true) failures.push({ line: at + 1, name: line.name });
    } else if (reference.refuses(line.fields, line.vectors) || (isPatch && reference.find(line.name) === undefined))
      failures.push({ line: at + 1, name: line.name });
    else if (isPatch) {
      reference.patch(line.name, line.fields, line.vectors);
      updated += 1;
    } else if (reference.put(line.name, line.fields, line.vectors)) created += 1;
    else updated += 1;
  }
  state.told?.imported(state.name(list), created, updated);
  const outcome = body as Outcome;
  const { created: made, updated: replaced, failed } = outcome;
  same(
    'outcome of a bulk call',
    { made, replaced, failed },
    { made: created, replaced: updated, failed: failures.length },
  );
  const told = outcome.errors.map(({ line, name }) => ({ line, name }));
  same(
    'lines that were refused',
    told.sort((left, right) => left.line - right.line),
    failures,
  );
}
