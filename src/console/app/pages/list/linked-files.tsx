import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { text } from '../../messages/index.js';
import { listResourcesRefresh } from '../../service/client.js';
import { useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { Ago } from '../../ui/ago.js';
import { Columns } from '../../ui/columns.js';
import { FileLink } from '../../ui/file-link.js';
import { count } from '../../ui/format.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useList, useListParams, type List } from './list-frame.js';

type FileFault = NonNullable<List['resources_state']>['errors'][number];

/** How many linked files were read, why others were not, and a button to read them again. */
export function LinkedFiles() {
  const { resources_state: state } = useList();
  if (state === undefined) return null;
  const { read, pending, failed, errors } = state;
  return (
    <Section title={text.documents.files} lead={text.documents.filesLead} actions={<LookAgain failed={failed} />}>
      <Text role="status">{text.documents.counts(count(read), count(pending), count(failed))}</Text>
      {errors.length === 0 ? null : <Faults errors={errors} />}
    </Section>
  );
}

function Faults({ errors }: { readonly errors: readonly FileFault[] }) {
  return (
    <Columns
      heads={[text.documents.file, text.documents.why, text.documents.since]}
      label={text.documents.unread}
      minWidth={560}
    >
      {errors.map(({ url, error, detail, at_utc }) => (
        <Table.Tr key={url}>
          <Table.Th scope="row">
            <FileLink url={url}>{url}</FileLink>
          </Table.Th>
          <Table.Td>
            <Text size="sm" title={detail}>
              {text.documents.faults[error]}
            </Text>
          </Table.Td>
          <Table.Td>
            <Ago iso={at_utc} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Columns>
  );
}

function LookAgain({ failed }: { readonly failed: number }) {
  const params = useListParams();
  const may = useMay();
  const refresh = useChange(listResourcesRefresh);
  if (!may(listResourcesRefresh)) return null;
  const ask = (failedOnly: boolean) => () => {
    refresh.mutate({ params, query: { failed: failedOnly } });
  };
  return (
    <Stack gap="xs" align="flex-end">
      <Group gap="xs">
        {failed === 0 ? null : (
          <Button variant="default" size="xs" loading={refresh.isPending} onClick={ask(true)}>
            {text.documents.retry}
          </Button>
        )}
        <Button variant="default" size="xs" loading={refresh.isPending} onClick={ask(false)}>
          {text.documents.refresh}
        </Button>
      </Group>
      {refresh.data === undefined ? null : (
        <Text role="status" size="sm">
          {text.documents.queued(count(refresh.data.queued))}
        </Text>
      )}
      <Problem error={refresh.error} />
    </Stack>
  );
}
