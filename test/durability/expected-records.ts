/**
 * What a list has to hold after a crash: per name the last acknowledged content, and the contents of writes that were not
 * answered, any one of which may be there instead. A content is a number; every field of a record is derived from it, so a
 * record that is half of one write and half of another is recognised.
 */

/** Undefined: no such record. */
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

  /** Before a request is sent. */
  begin(name: string, content: Content): void {
    const contents = this.unanswered.get(name) ?? [];
    contents.push(content);
    this.unanswered.set(name, contents);
  }

  /** When its answer is here. One request at a time is out for a name. */
  acknowledge(name: string, content: Content): void {
    this.acknowledged.set(name, content);
    this.unanswered.delete(name);
  }

  acknowledgedContent(name: string): Content {
    return this.acknowledged.get(name);
  }

  /** Problems; empty where the records are what they have to be. From then on they are what is expected. */
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
