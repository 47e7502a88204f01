/**
 * What a list must contain after a crash: for each name the last acknowledged content, or the content of any write
 * that was not answered. A content is a number; every field of a record is derived from it, so that a record made of
 * halves of two writes is recognized.
 */

/** The content of a record; undefined: no such record. */
export type Content = number | undefined;

export interface ReadRecord {
  readonly id: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const BODY_WORDS = 20;

export function fieldsOf(content: number, group: string): Record<string, unknown> {
  return {
    value: content,
    group,
    title: `title of ${content}`,
    body: Array(BODY_WORDS).fill(`word${content}`).join(' '),
  };
}

export function contentOf(record: ReadRecord): number {
  const single = (value: unknown): unknown => (Array.isArray(value) ? (value as unknown[])[0] : value);
  const content = single(record.fields['value']) as number;
  const expected = fieldsOf(content, String(single(record.fields['group'])));
  for (const [field, value] of Object.entries(expected)) {
    if (single(record.fields[field]) !== value)
      throw new Error(`record ${record.name} is not whole: ${JSON.stringify(record)}`);
  }
  return content;
}

export class ExpectedRecords {
  private readonly acknowledged = new Map<string, Content>();
  private readonly unanswered = new Map<string, Content[]>();
  readonly ids = new Map<string, string>();

  get acknowledgedCount(): number {
    return [...this.acknowledged.values()].filter((content) => content !== undefined).length;
  }

  /** Called before a request is sent. */
  begin(name: string, content: Content): void {
    const contents = this.unanswered.get(name) ?? [];
    contents.push(content);
    this.unanswered.set(name, contents);
  }

  /** Called when its answer is here. Only one request at a time is sent for a name. */
  acknowledge(name: string, content: Content): void {
    this.acknowledged.set(name, content);
    this.unanswered.delete(name);
  }

  acknowledgedContent(name: string): Content {
    return this.acknowledged.get(name);
  }

  /** Returns problems; empty if the records are as they must be. From then on, they are what is expected. */
  compare(records: readonly ReadRecord[]): string[] {
    const problems: string[] = [];
    const actual = new Map<string, Content>();
    this.ids.clear();
    for (const record of records) {
      if (actual.has(record.name)) problems.push(`${record.name} is there twice`);
      try {
        actual.set(record.name, contentOf(record));
      } catch (error) {
        problems.push(String(error));
      }
      this.ids.set(record.name, record.id);
    }
    for (const name of new Set([...this.acknowledged.keys(), ...this.unanswered.keys(), ...actual.keys()])) {
      const content = actual.get(name);
      const allowed = [this.acknowledged.get(name), ...(this.unanswered.get(name) ?? [])];
      if (!allowed.includes(content)) problems.push(`${name} holds ${content}, and not one of ${allowed.join(', ')}`);
      this.acknowledged.set(name, content);
    }
    this.unanswered.clear();
    return problems;
  }
}
