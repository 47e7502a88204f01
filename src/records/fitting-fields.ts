/** Selects as many fields of a record as fit into a limit, as JSON. */

export interface FieldChoice {
  /** Names of the wanted fields; undefined: all. */
  readonly select?: ReadonlySet<string> | undefined;
  /** Maximum size of the JSON in bytes, including braces; undefined: no limit. */
  readonly bytesMax?: number | undefined;
}

export interface FittingFields {
  /** JSON object of the fields that fit, in the record's order. */
  readonly json: string;
  /** Names of the fields that do not fit. */
  readonly leftOut: readonly string[];
}

/** `stored`: the stored fields, a JSON object in UTF-8. Names that the record lacks are ignored. */
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

/** Returns the member of an answer that names the omitted fields, preceded by a comma; '' if there are none. */
export function leftOutMember(leftOut: readonly string[]): string {
  return leftOut.length === 0 ? '' : `,"fields_left_out":${JSON.stringify(leftOut)}`;
}
