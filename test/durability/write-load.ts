/**
 * Sends all kinds of writes at once until the service dies: single writes, imports, deletions by filter, changes of
 * the definition. Each writer has names of its own, so that at most one request at a time is about a name.
 */
import type { SeededRandom } from '../support/random.js';
import type { ServiceClient } from '../support/client.js';
import { DyingLoad, UnexpectedAnswer } from './dying-load.js';
import { fieldsOf, type Content, type ExpectedRecords, type ReadRecord } from './expected-records.js';

export const ACCOUNT = 'default';
export const LIST = 'durable';

const SINGLE_WRITERS = 4;
const NAMES_PER_WRITER = 40;
const IMPORT_NAMES = 1500;
const IMPORT_RECORDS_MAX = 1200;
const GROUP_RECORDS = 30;
const DEFINITION_PAUSE_MS_MAX = 400;

/** An import without an answer: some number of its records, the first ones, are there, and the others are not. */
export interface UnansweredImport {
  readonly records: readonly (readonly [name: string, content: number])[];
}
/** A deletion by filter without an answer: all of these records are deleted, or none is. */
export interface UnansweredDeletion {
  readonly names: readonly string[];
}

export class WriteLoad extends DyingLoad {
  unansweredImport: UnansweredImport | undefined;
  unansweredDeletion: UnansweredDeletion | undefined;

  constructor(
    private readonly client: ServiceClient,
    private readonly expected: ExpectedRecords,
    private readonly random: SeededRandom,
    private readonly nextContent: () => number,
  ) {
    super();
  }

  /** Resolves when the service no longer answers. Rejects for an unexpected answer. */
  async run(): Promise<void> {
    const singles = Array.from({ length: SINGLE_WRITERS }, (_, writer) => () => this.singleWrite(writer));
    await this.repeatAll([
      ...singles,
      () => this.bulkImport(),
      () => this.deletionByFilter(),
      () => this.definitionChange(),
    ]);
  }

  private async singleWrite(writer: number): Promise<void> {
    const name = `s${writer}-${this.random.below(NAMES_PER_WRITER)}`;
    const path = `/search-result/${ACCOUNT}/${LIST}`;
    const id = this.expected.ids.get(name);
    const present = this.expected.acknowledgedContent(name) !== undefined && id !== undefined;
    const content = this.nextContent();
    const kind = present ? this.random.pick(['put', 'replace', 'patch', 'delete'] as const) : 'put';
    const fields = fieldsOf(content, 'single');
    this.expected.begin(name, kind === 'delete' ? undefined : content);
    let after: Content = content;
    switch (kind) {
      case 'put': {
        const { body } = await this.ask([200, 201], this.client.post(path, { name, fields }));
        this.expected.ids.set(name, (body as ReadRecord).id);
        break;
      }
      case 'replace':
        await this.ask([200], this.client.put(`${path}/${id}`, { name, fields }));
        break;
      case 'patch':
        await this.ask([200], this.client.patch(`${path}/${id}`, { fields }));
        break;
      case 'delete':
        await this.ask([204], this.client.delete(`${path}/${id}`));
        this.expected.ids.delete(name);
        after = undefined;
        break;
    }
    this.expected.acknowledge(name, after);
  }

  private async bulkImport(): Promise<void> {
    const contents = new Map<string, number>();
    const count = 1 + this.random.below(IMPORT_RECORDS_MAX);
    for (let index = 0; index < count; ++index) contents.set(`b${this.random.below(IMPORT_NAMES)}`, this.nextContent());
    const records = [...contents];
    this.unansweredImport = { records };
    await this.import(records, 'bulk');
    this.unansweredImport = undefined;
  }

  private async import(records: readonly (readonly [string, number])[], group: string): Promise<void> {
    for (const [name, content] of records) this.expected.begin(name, content);
    const lines = records.map(([name, content]) => ({ name, fields: fieldsOf(content, group) }));
    const { body } = await this.ask([200], this.client.bulk(ACCOUNT, LIST, lines));
    const { failed, created, updated } = body as { failed: number; created: number; updated: number };
    if (failed > 0 || created + updated !== records.length)
      throw new UnexpectedAnswer(JSON.stringify(body).slice(0, 1000));
    for (const [name, content] of records) this.expected.acknowledge(name, content);
  }

  private async deletionByFilter(): Promise<void> {
    const records = Array.from({ length: GROUP_RECORDS }, (_, index) => [`g-${index}`, this.nextContent()] as const);
    await this.import(records, 'doomed');
    const names = records.map(([name]) => name);
    for (const name of names) this.expected.begin(name, undefined);
    this.unansweredDeletion = { names };
    const path = `/search-result/${ACCOUNT}/${LIST}`;
    // 503: the list moved to its next version while the deletion waited, and nothing was deleted.
    const { status, body } = await this.ask([200, 503], this.client.delete(path, { filter: "group = 'doomed'" }));
    this.unansweredDeletion = undefined;
    if (status === 503) return;
    const { deleted } = body as { deleted: number };
    if (deleted !== GROUP_RECORDS) throw new UnexpectedAnswer(`${deleted} of ${GROUP_RECORDS} records were deleted`);
    for (const name of names) this.expected.acknowledge(name, undefined);
  }

  private async definitionChange(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.random.below(DEFINITION_PAUSE_MS_MAX)));
    const name = `facet${this.random.below(2)}`;
    const path = `/facet/${ACCOUNT}/${LIST}`;
    const { status } = await this.ask(
      [201, 409],
      this.client.post(path, { name, type: 'string', cardinality: 'Single' }),
    );
    if (status === 409) await this.ask([204], this.client.delete(`${path}/${name}`));
  }
}
