import { Badge, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Outlet, useMatchRoute, useNavigate, useParams } from '@tanstack/react-router';
import { text } from '../../messages/index.js';
import { listRead, ServiceProblem, type ListReadOutput } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { typedHere } from '../../service/typed.js';
import { LIST_PLACES } from '../../shell/places.js';
import { count } from '../../ui/format.js';
import { useTitle } from '../../ui/page.js';

export type List = ListReadOutput;

/** Intervals of reading the list while a version is built, records are embedded or files are read. */
const BUILDING_READ_MS = 1_000;
const WORKING_READ_MS = 2_000;

const isBuilding = (list: List | undefined): boolean =>
  list?.versions.some(({ state }) => state === 'building') ?? false;

/** Undefined if the list is not expected to change. */
function readAgainMs(list: List | undefined): number | undefined {
  if (isBuilding(list)) return BUILDING_READ_MS;
  const isWorking = (list?.meaning?.pending ?? 0) > 0 || (list?.resources_state?.pending ?? 0) > 0;
  // An empty list was just created to be filled.
  return isWorking || list?.record_count === 0 ? WORKING_READ_MS : undefined;
}

/** Returns the list in the address. Throws if it was deleted meanwhile, unless the page has typed text to keep. */
export function useList(): List {
  const { account = '', list = '' } = useParams({ strict: false });
  const query = reading(listRead, { params: { account, list } });
  const { data, error } = useSuspenseQuery({
    ...query,
    refetchInterval: ({ state }) => readAgainMs(state.data) ?? false,
  });
  if (error instanceof ServiceProblem && error.code === 'list-not-found' && !typedHere()) throw error;
  return data;
}

export function useListParams(): { readonly account: string; readonly list: string } {
  const { account = '', list = '' } = useParams({ strict: false });
  return { account, list };
}

/** Frame of every page of a list. */
export function ListFrame() {
  const list = useList();
  const params = useListParams();
  const navigate = useNavigate();
  const matches = useMatchRoute();
  const place = LIST_PLACES.find(({ to }) => matches({ to, params, fuzzy: true }) !== false);
  const here = place?.to ?? null;
  // Distinguishes several browser tabs by page and list.
  useTitle(place === undefined ? list.name : `${place.label} · ${list.name}`);
  return (
    <Stack gap="lg">
      <Group gap="sm" align="baseline">
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {list.name}
        </Title>
        <Text c="dimmed">{text.lists.records(count(list.record_count))}</Text>
        {isBuilding(list) ? <Building list={list} /> : null}
      </Group>
      <Tabs
        value={here}
        onChange={(to) => {
          const next = LIST_PLACES.find((each) => each.to === to);
          if (next !== undefined) void navigate({ to: next.to, params });
        }}
        activateTabWithKeyboard={false}
      >
        <Tabs.List aria-label={text.list.pages} style={{ overflowX: 'auto', flexWrap: 'nowrap' }}>
          {LIST_PLACES.map(({ to, label }) => (
            <Tabs.Tab key={to} value={to} id={`tab-${label}`} ref={to === here ? intoView : undefined}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {here === null ? null : (
          <Tabs.Panel value={here} pt="lg" tabIndex={-1}>
            <Outlet />
          </Tabs.Panel>
        )}
      </Tabs>
    </Stack>
  );
}

/** On a phone, not all tabs fit. */
function intoView(tab: HTMLButtonElement | null): void {
  tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

function Building({ list }: { readonly list: List }) {
  const building = list.versions.find(({ state }) => state === 'building');
  if (building === undefined) return null;
  return (
    <Badge variant="light" role="status">
      {text.list.building(building.version, count(building.record_count), count(list.record_count))}
    </Badge>
  );
}
