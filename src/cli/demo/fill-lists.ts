/** Creates the demo's lists and imports what is missing. */
import type { BulkAnswer } from '../answers.js';
import { createListIfMissing } from '../created-list.js';
import { CommandError } from '../exit-codes.js';
import { CONTENT_TYPES } from '../import-source.js';
import { formatCount, type Output } from '../output.js';
import { Progress } from '../progress.js';
import type { ServiceClient } from '../service-client.js';
import { toNdjson, type DemoList } from './demo-list.js';
import type { DemoState } from './demo-state.js';

interface Filling {
  readonly client: ServiceClient;
  readonly account: string;
  readonly output: Output;
}

interface LearningList {
  readonly record_count: number;
  readonly meaning: { readonly state: string; readonly embedded: number };
}

/** After this time the demo goes on without the model. */
const LEARNING_MS_MAX = 120_000;
const LOOK_MS = 100;

/** Returns the state including the list. An interrupted import is repeated: records are replaced by name. */
export async function fillList(filling: Filling, list: DemoList, state: DemoState): Promise<DemoState> {
  const { client, account, output } = filling;
  const expected = state.imported[list.name];
  await createListIfMissing(client, { account, list: list.name, definition: list.definition });
  if (expected !== undefined) {
    const present = (await client.call('list.read', { params: { account, list: list.name } })) as {
      readonly record_count: number;
    };
    if (present.record_count > 0) {
      output.write(`${list.title}: ${formatCount(present.record_count)} records, already imported\n`);
      return state;
    }
  }
  const count = await importList(filling, list);
  return { ...state, imported: { ...state.imported, [list.name]: count } };
}

/** Waits until every record of a list with a model has its vector. Shows progress if that takes a while. */
export async function untilLearned({ client, account, output }: Filling, list: DemoList): Promise<void> {
  const read = async () => (await client.call('list.read', { params: { account, list: list.name } })) as LearningList;
  const progress = new Progress(output, list.name);
  const giveUpMs = performance.now() + LEARNING_MS_MAX;
  for (;;) {
    const { meaning, record_count: count } = await read();
    if (meaning.state !== 'embedding') break;
    if (performance.now() > giveUpMs) {
      output.write(`${list.title}: still learning in the background; searches by meaning find more later\n`);
      break;
    }
    progress.update({ records: meaning.embedded, share: meaning.embedded / Math.max(1, count) });
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  progress.abandon();
}

async function importList({ client, account, output }: Filling, list: DemoList): Promise<number> {
  const records = await list.records();
  const progress = new Progress(output, list.name);
  try {
    const answer = (await client.call('search-result.bulk', {
      params: { account, list: list.name },
      contentType: CONTENT_TYPES.ndjson,
      stream: toNdjson(records, (sent) => progress.update({ records: sent, share: sent / records.length })),
    })) as BulkAnswer;
    if (answer.failed > 0) {
      const first = answer.errors[0];
      throw new CommandError(
        `${answer.failed} records of ${list.title} were refused. The first: ${first?.detail ?? ''}`,
      );
    }
    progress.done(records.length);
    return records.length;
  } catch (error) {
    progress.abandon();
    throw error;
  }
}
