import { Text } from '@mantine/core';
import { text } from '../../messages/index.js';
import { count } from '../../ui/format.js';
import type { ImportState } from './import-job.js';

/** Numbers of records imported so far. */
export function ImportCounts({ state }: { readonly state: ImportState }) {
  const { written, replaced, failed } = state;
  return (
    <Text role="status">
      {text.start.imported(count(written), count(failed))}
      {replaced === 0 ? null : ` ${text.start.replaced(count(replaced))}`}
    </Text>
  );
}
