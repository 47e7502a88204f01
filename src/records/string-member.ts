/** A field of a record without its others: parsing all of a record takes as long as it is long, and a search wants one link of each hit. Pure. */
import { parseFields } from './record-codec.js';

const QUOTE = '"';
const ESCAPE = '\\';
/** Begins a name that cannot be JSON behind the end of a text: in `{"a,":1,":":"x"}` the name `:1,` seems to be there, with a text. */
const PLAIN_NAME = /^[\p{L}\p{N}_]/u;

/**
 * The value of a field in the JSON of a record's fields; undefined where it has none or it is no string. Throws a DamagedRecordError for what
 * is no JSON, as far as it is looked at.
 */
export function stringField(fieldsJson: string, name: string): string | undefined {
  const key = `${JSON.stringify(name)}:"`;
  // Inside of a string a quote is escaped, so this is a member; the last of those with one name counts.
  const found = PLAIN_NAME.test(name) ? fieldsJson.lastIndexOf(key) : -1;
  const before = fieldsJson[found - 1];
  const begin = found + key.length;
  const end = fieldsJson.indexOf(QUOTE, begin);
  const isMember = found > 0 && end > 0 && (before === ',' || before === '{');
  const value = isMember ? fieldsJson.slice(begin, end) : ESCAPE;
  if (!value.includes(ESCAPE)) return value;
  const parsed = parseFields(fieldsJson);
  const member = Object.hasOwn(parsed, name) ? parsed[name] : undefined;
  return typeof member === 'string' ? member : undefined;
}
