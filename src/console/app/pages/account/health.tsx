import { Badge, Group, Stack, Table, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { accountRead, systemHealth, systemMetrics, systemReady } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { Columns } from '../../ui/columns.js';
import { count } from '../../ui/format.js';
import { Page, Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { HealthSummary } from './health-summary.js';
import { parseMetrics, type Measurement } from './measurements.js';

const READ_MS = 5_000;

/** How the service is, by its own measurements. */
export function Health() {
  const alive = useQuery({ ...reading(systemHealth, {}), refetchInterval: READ_MS });
  const ready = useQuery({ ...reading(systemReady, {}), refetchInterval: READ_MS });
  const account = useQuery(reading(accountRead, {}));
  const metrics = useQuery({ ...reading(systemMetrics, {}), refetchInterval: READ_MS });
  return (
    <Page title={text.health.title} lead={text.health.lead(account.data?.region ?? '')}>
      <Group role="status">
        <State name={text.health.alive} isFine={alive.isSuccess} />
        <State name={text.health.ready} isFine={ready.isSuccess} />
      </Group>
      <Problem error={metrics.error ?? alive.error} />
      {metrics.data === undefined ? null : <Measured text={metrics.data} />}
    </Page>
  );
}

function Measured({ text: metrics }: { readonly text: string }) {
  const measurements = parseMetrics(metrics);
  return (
    <>
      <HealthSummary measurements={measurements} />
      <details>
        <summary>{text.health.all}</summary>
        <Measurements measurements={measurements} />
      </details>
    </>
  );
}

function State({ name, isFine }: { readonly name: string; readonly isFine: boolean }) {
  return (
    <Badge size="lg" variant="light" color={isFine ? 'green' : 'red'}>
      {isFine ? name : text.health.not(name)}
    </Badge>
  );
}

function Measurements({ measurements }: { readonly measurements: readonly Measurement[] }) {
  const [wanted, setWanted] = useState('gannet_');
  const shown = measurements.filter(({ name, help }) => `${name} ${help}`.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <Section title={text.health.measurements}>
      <Stack>
        <TextInput
          label={text.health.filter}
          maw={320}
          value={wanted}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
          }}
        />
        <Columns heads={[text.health.name, text.health.value, text.health.meaning]} label={text.health.measurements}>
          {shown.map(({ name, labels, value, help }) => (
            <Table.Tr key={`${name}${labels}`}>
              <Table.Th scope="row" style={{ overflowWrap: 'anywhere' }}>
                {name}
                {labels}
              </Table.Th>
              <Table.Td>{count(value)}</Table.Td>
              <Table.Td>{help}</Table.Td>
            </Table.Tr>
          ))}
        </Columns>
      </Stack>
    </Section>
  );
}
