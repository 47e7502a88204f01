/** Fields of a record as JSON, as many as there is room for. */

export interface FieldChoice {
  /** Names; undefined: all. */
  readonly select?: ReadonlySet<string> | undefined;
  /** Of their JSON, braces among them; undefined: as many as there are. */
  readonly bytesMax?: number | undefined;
}

export interface FittingFields {
  /** An object of those that fit, in the record's own order. */
  readonly json: string;
  /** Names of those that do not. */
  readonly leftOut: readonly string[];
}

/** Of the stored fields, which are an object of JSON in UTF-8. A name that the record lacks is absent. */
export function fittingFields(stored: Uint8Array, { select, bytesMax = Infinity }: FieldChoice): FittingFields {
  if (select?.size === 0) return { json: '{}', leftOut: [] };
  const text = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString();
  const members: string[] = [];
  const leftOut: string[] = [];
  let room = bytesMax - '{}'.length;
  for (const [name, value] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
    if (select?.has(name) === false) continue;
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    const needed = Buffer.byteLength(member) + (members.length === 0 ? 0 : ','.length);
    if (needed > room) {
      leftOut.push(name);
    } else {
      members.push(member);
      room -= needed;
    }
  }
  return { json: `{${members.join(',')}}`, leftOut };
}

/** The member of an answer that names what was left out, with its comma; '' where nothing was. */
export function leftOutMember(leftOut: readonly string[]): string {
  return leftOut.length === 0 ? '' : `,"fields_left_out":${JSON.stringify(leftOut)}`;
}
