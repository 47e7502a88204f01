import { Text } from '@mantine/core';
import { memberName } from '../../../../records/json-records.js';
import { text } from '../../messages/index.js';
import type { FileReading } from './file-records.js';

/** Where in its file the records are, where that is not plain. */
export function RecordsWithin({ reading: { path } }: { readonly reading: FileReading }) {
  return path.length === 0 ? null : <Text>{text.start.recordsWithin(memberName(path))}</Text>;
}

/** What a record without a name is called by. */
export function placeOf(line: number, { format }: FileReading): string {
  return format === 'json' ? text.start.record(line) : text.start.line(line);
}
