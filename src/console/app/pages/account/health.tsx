import { Badge, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { text } from '../../messages/index.js';
import { accountRead, systemHealth, systemMetrics, systemReady } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { columnHelper, DataTable, Wrapped } from '../../ui/data-table.js';
import { count } from '../../ui/format.js';
import { Page, Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useTextInAddress } from '../../ui/text-in-address.js';
import { HealthSummary } from './health-summary.js';
import { Standing, useStanding } from './standing.js';
import { parseMetrics, type Measurement } from './measurements.js';

const READ_MS = 5_000;

/** State of the service by its own metrics. */
export function Health() {
  const standing = useStanding();
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
      {standing.enabled ? <Standing /> : null}
      {/* Waits for the part above it, which would otherwise push it down. */}
      {metrics.data === undefined || (standing.enabled && !standing.isFetched) ? null : (
        <Measured text={metrics.data} />
      )}
    </Page>
  );
}

function Measured({ text: metrics }: { readonly text: string }) {
  const measurements = useMemo(() => parseMetrics(metrics), [metrics]);
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

const measurement = columnHelper<Measurement>();
const COLUMNS = measurement.columns([
  measurement.accessor(({ name, labels }) => `${name}${labels}`, {
    id: 'name',
    header: text.health.name,
    cell: Wrapped,
  }),
  measurement.accessor('value', { header: text.health.value, cell: ({ getValue }) => count(getValue()) }),
  measurement.accessor('help', { header: text.health.meaning }),
]);

function Measurements({ measurements }: { readonly measurements: readonly Measurement[] }) {
  const [wanted, setWanted] = useTextInAddress('find', 'gannet_');
  const shown = useMemo(() => {
    const sought = wanted.toLowerCase();
    return measurements.filter(({ name, help }) => `${name} ${help}`.toLowerCase().includes(sought));
  }, [measurements, wanted]);
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
        <DataTable
          label={text.health.measurements}
          items={shown}
          columns={COLUMNS}
          keyOf={({ name, labels }) => `${name}${labels}`}
          named="name"
          isSortable
        />
      </Stack>
    </Section>
  );
}
