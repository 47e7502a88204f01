/**
 * A fake text model that remembers the text of each vector, so that a test can tell whether a record's vectors are
 * those of its text.
 */
import { createHash } from 'node:crypto';
import { startScriptedModel } from '../support/scripted-model.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import type { TestService } from '../support/service.js';
import { eventually } from '../support/eventually.js';
import { holdsTrue, same } from './difference.js';
import type { ReferenceList } from './reference-list.js';
import { membersOf } from './reference-values.js';
import type { Vector } from './reference-vectors.js';

const TEXT_MODEL = 'texts';
const DIMENSIONS = 64;
const LONG_WORD = 300;

interface Meaning {
  readonly state: string;
  readonly embedded: number;
  readonly pending: number;
  readonly failed: number;
}
interface Embedded {
  readonly name: string;
  readonly vectors: readonly Vector[];
}

export class TextModel {
  readonly #texts = new Map<string, string>();

  private constructor(private readonly server: ScriptedServer) {
    server.script = ({ body }, response) => {
      const { input } = JSON.parse(body) as { input: string[] };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: input.map((text, index) => ({ index, embedding: this.#vectorOf(text) })) }));
    };
  }

  static async start(): Promise<TextModel> {
    return new TextModel(await startScriptedModel());
  }

  async addTo(service: TestService): Promise<void> {
    const model = { name: TEXT_MODEL, provider: 'openai', url: this.server.url('/v1'), served_name: TEXT_MODEL };
    const { status, text } = await service.control().post('/model/default', model);
    if (status !== 201) throw new Error(`No model was added: ${text}`);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** Checks that each record has the vectors of its current text, and none if it has no text. */
  check(embedded: readonly Embedded[], list: ReferenceList): void {
    for (const { name, vectors } of embedded) {
      const record = list.find(name);
      if (record === undefined) continue;
      const values = list.definition.searchable.flatMap((field) =>
        field === 'name' ? [name] : membersOf(record.fields.get(field)).map(String),
      );
      if (vectors.length === 0) {
        holdsTrue(
          'a text that has a vector',
          values.every((value) => value.trim() === ''),
          () => [name, values],
        );
        continue;
      }
      // Long words are cut at the end of a passage, so the texts cannot be compared.
      if (values.some((value) => value.split(/\s/).some((word) => word.length > LONG_WORD))) continue;
      const texts = vectors.map((vector) => this.#texts.get(keyOf(vector)));
      same('what the vectors of a record are of', wordsOf(texts.join(' ')), wordsOf(values.join(' ')));
    }
  }

  #vectorOf(text: string): number[] {
    const digest = createHash('sha256').update(text).digest();
    const vector = Array.from({ length: DIMENSIONS }, (_, at) => (((digest[at >> 3] ?? 0) >> (at & 7)) & 1 ? 1 : -1));
    this.#texts.set(keyOf(vector), text);
    return vector;
  }
}

/** Signs of the components: they identify the vector, whatever length the service scales it to. */
const keyOf = (vector: Vector) => vector.map((each) => (each < 0 ? '-' : '+')).join('');
/** Distinct words, since passages may overlap. */
const wordsOf = (text: string) => [...new Set(text.normalize('NFKC').match(/[\p{L}\p{N}]+/gu))].sort();

/** Waits until all records are embedded. */
export async function whenEmbedded(service: TestService, list: string): Promise<Meaning> {
  const { meaning } = await eventually(
    async () => (await service.client.get(`/list/default/${list}`)).body as { meaning: Meaning },
    ({ meaning: { state, pending } }) => state === 'ready' && pending === 0,
  );
  return meaning;
}
