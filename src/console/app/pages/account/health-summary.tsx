import { Card, Progress, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { text } from '../../messages/index.js';
import { bytes, count } from '../../ui/format.js';
import type { Measurement } from './measurements.js';

/** Share of the memory budget from which the service delays requests. */
const FULL = 0.9;

/** The most important measurements. */
export function HealthSummary({ measurements }: { readonly measurements: readonly Measurement[] }) {
  const all = (name: string) => measurements.filter((each) => each.name === name);
  const one = (name: string): number => all(name).reduce((sum, { value }) => sum + value, 0);
  const [used, budget] = [one('gannet_memory_own_bytes'), one('gannet_memory_budget_bytes')];
  const merges = all('gannet_ingest_task_seconds_count')
    .filter(({ labels }) => labels.includes('kind="merge"'))
    .reduce((sum, { value }) => sum + value, 0);
  const part = budget === 0 ? 0 : used / budget;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
      <Figure title={text.health.memory} value={text.health.memoryOf(bytes(used), bytes(budget))}>
        <Progress
          aria-label={text.health.memory}
          value={100 * Math.min(1, part)}
          color={part >= FULL ? 'red' : 'blue'}
        />
      </Figure>
      <Figure
        title={text.health.lists}
        value={text.health.listsOf(count(one('gannet_lists_open')), count(one('gannet_lists_rebuilding')))}
      />
      <Figure
        title={text.health.versions}
        value={text.health.versionsOf(count(one('gannet_list_versions')), count(one('gannet_list_versions_building')))}
      />
      <Figure
        title={text.health.segments}
        value={text.health.segmentsOf(count(one('gannet_list_segments')), count(merges))}
      />
      <Figure
        title={text.health.waiting}
        value={all('gannet_pool_tasks_waiting')
          .map(({ labels, value }) => text.health.waitingFor(kindOf(labels), count(value)))
          .join(', ')}
      />
      <Figure
        title={text.health.deliveries}
        value={text.health.queued(count(one('gannet_webhook_deliveries_queued')))}
      />
      <Figure
        title={text.health.files}
        value={text.health.filesOf(count(one('gannet_media_files')), bytes(one('gannet_media_bytes')))}
      />
    </SimpleGrid>
  );
}

/** Returns the label's value: `{pool="search"}` → search. */
function kindOf(labels: string): string {
  return /="([^"]*)"/.exec(labels)?.[1] ?? labels;
}

interface FigureProps {
  readonly title: string;
  readonly value: string;
  readonly children?: ReactNode;
}

export function Figure({ title, value, children }: FigureProps) {
  return (
    <Card withBorder p="md">
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <Text fw={600}>{value}</Text>
      {children}
    </Card>
  );
}
