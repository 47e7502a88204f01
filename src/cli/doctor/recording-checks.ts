/** Checks of recordings: which lists transcribe them, and whether the models answer. */
import { membersOf } from '../answers.js';
import type { ServiceClient } from '../service-client.js';
import { fine, notice, type Check } from './check.js';

const TOLD_MAX = 5;

interface ListWithRecordings {
  readonly name: string;
  readonly resources: readonly { readonly kind: string }[];
  readonly transcription_model?: string | null;
}

interface ListedModel {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
}

/** `answer` is that of `list.list`. Empty if no list has fields for recordings. */
export async function transcriptionCheck(client: ServiceClient, account: string, answer: unknown): Promise<Check[]> {
  const lists = membersOf<ListWithRecordings>(answer, 'lists').filter(({ resources }) =>
    resources.some(({ kind }) => kind === 'video' || kind === 'audio'),
  );
  if (lists.length === 0) return [];
  const models = membersOf<ListedModel>(await client.call('model.list', { params: { account } }), 'models');
  const ready = new Set(
    models.flatMap(({ name, kind, state }) => (kind === 'transcription' && state === 'ready' ? [name] : [])),
  );
  const written = lists.filter(({ transcription_model: model }) => typeof model === 'string');
  const waiting = written.filter(({ transcription_model: model }) => !ready.has(model ?? ''));
  if (waiting.length === 0) {
    const detail = `lists with recordings: ${lists.length}, of which ${written.length} have a transcription model`;
    return [fine('Transcription', detail)];
  }
  const told = waiting.slice(0, TOLD_MAX).map(({ name, transcription_model: model }) => `${model} of list ${name}`);
  return [notice('Transcription', `no answer from the model ${told.join(', ')}. Recordings wait to be transcribed`)];
}
