import { Anchor, Card, Group, SegmentedControl, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { text } from '../messages/index.js';
import type { AnalyticsListOutput } from '../service/client.js';
import { Columns } from './columns.js';
import { DailyChart } from './daily-chart.js';
import { columnHelper, DataTable } from './data-table.js';
import { count, share } from './format.js';
import { Section } from './page.js';

const RANGES = [7, 30, 90, 366];
const DAY_MS = 86_400_000;

export function firstDay(days: number): string {
  return new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
}

interface ReportProps {
  readonly report: AnalyticsListOutput;
  readonly days: number;
  readonly onDays: (days: number) => void;
  /** List in which searches can be tried and improved. Undefined for a group. */
  readonly list?: { readonly account: string; readonly list: string };
}

/** Analytics report: searches, searches without results, and clicks. */
export function Report({ report, days, onDays, list }: ReportProps) {
  const figures = [
    [text.analytics.searches, count(report.total_searches)],
    [text.analytics.nothing, count(report.zero_result_searches)],
    [text.analytics.clicks, count(report.total_clicks)],
    [text.analytics.rate, share(report.click_through_rate)],
  ] as const;
  return (
    <Stack gap="xl">
      <Group justify="space-between">
        <Text c="dimmed">{text.analytics.range(report.from, report.to)}</Text>
        <SegmentedControl
          aria-label={text.analytics.days}
          data={RANGES.map((range) => ({ value: String(range), label: text.analytics.lastDays(range) }))}
          value={String(days)}
          onChange={(value) => {
            onDays(Number(value));
          }}
        />
      </Group>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        {figures.map(([label, value]) => (
          <Card key={label} withBorder>
            <Text size="sm" c="dimmed">
              {label}
            </Text>
            <Text fw={650} size="xl">
              {value}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
      <Daily daily={report.daily} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Terms title={text.analytics.top} terms={report.top_searches} list={list} />
        <Terms title={text.analytics.topNothing} terms={report.top_zero_result_searches} list={list} mend />
      </SimpleGrid>
    </Stack>
  );
}

type Day = AnalyticsListOutput['daily'][number];

const day = columnHelper<Day>();
const DAY_COLUMNS = day.columns([
  day.accessor('date', { header: text.analytics.date }),
  day.accessor('searches', { header: text.analytics.searches, cell: ({ getValue }) => count(getValue()) }),
  day.accessor('zero_result_searches', { header: text.analytics.nothing, cell: ({ getValue }) => count(getValue()) }),
  day.accessor('clicks', { header: text.analytics.clicks, cell: ({ getValue }) => count(getValue()) }),
]);

/** A chart, and the same data as a table. */
function Daily({ daily }: Pick<AnalyticsListOutput, 'daily'>) {
  const newestFirst = useMemo(() => daily.toReversed(), [daily]);
  return (
    <Section title={text.analytics.daily}>
      <DailyChart daily={daily} />
      <details>
        <summary>{text.analytics.asTable}</summary>
        <DataTable
          label={text.analytics.daily}
          items={newestFirst}
          columns={DAY_COLUMNS}
          keyOf={({ date }) => date}
          named="date"
          isSortable
        />
      </details>
    </Section>
  );
}

interface TermsProps {
  readonly title: string;
  readonly terms: AnalyticsListOutput['top_searches'];
  readonly list: ReportProps['list'];
  readonly mend?: boolean;
}

function Terms({ title, terms, list, mend = false }: TermsProps) {
  return (
    <Section title={title}>
      {terms.length === 0 ? <Text c="dimmed">{text.analytics.none}</Text> : null}
      {terms.length === 0 ? null : (
        <Columns heads={[text.analytics.term, text.analytics.times, '']} label={title} minWidth={320}>
          {terms.map(({ term, count: times }) => (
            <Table.Tr key={term}>
              <Table.Th scope="row">{term}</Table.Th>
              <Table.Td>{count(times)}</Table.Td>
              <Table.Td>
                {list === undefined ? null : (
                  <Group gap="sm" justify="flex-end">
                    <Anchor
                      component={Link}
                      to="/$account/list/$list/search"
                      params={list as never}
                      search={{ query: term } as never}
                      aria-label={text.analytics.tryOf(term)}
                    >
                      {text.analytics.try}
                    </Anchor>
                    {mend ? (
                      <Anchor
                        component={Link}
                        to="/$account/list/$list/synonyms"
                        params={list as never}
                        search={{ term } as never}
                        aria-label={text.analytics.mendOf(term)}
                      >
                        {text.analytics.mend}
                      </Anchor>
                    ) : null}
                  </Group>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Columns>
      )}
    </Section>
  );
}
