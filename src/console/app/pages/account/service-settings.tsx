import { Checkbox, Code, Group, Text, TextInput } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import { serviceSettings, type ServiceSettingsOutput } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { useAccount } from '../../service/session.js';
import { columnHelper, DataTable, Wrapped } from '../../ui/data-table.js';
import { count } from '../../ui/format.js';
import { Page } from '../../ui/page.js';
import { useTextInAddress } from '../../ui/text-in-address.js';

/** Numbers below are not grouped: a port is a name. */
const GROUPED_FROM = 100_000;

type Setting = ServiceSettingsOutput['settings'][number];

/** Settings in force, with their origins. Read-only, since settings are given at start. */
export function ServiceSettings() {
  const account = useAccount();
  const { data } = useSuspenseQuery(reading(serviceSettings, { params: { account } }));
  const [wanted, setWanted] = useTextInAddress('find');
  const [given, setGiven] = useTextInAddress('given');
  const isGiven = given === 'yes';
  const found = data.settings.filter(
    (setting) => textOf(setting).includes(wanted.trim().toLowerCase()) && (!isGiven || setting.origin !== 'default'),
  );
  return (
    <Page title={text.serviceSettings.title} lead={text.serviceSettings.lead}>
      <Group align="flex-end">
        <TextInput
          label={text.serviceSettings.filter}
          value={wanted}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
          }}
        />
        <Checkbox
          label={text.serviceSettings.changed}
          checked={isGiven}
          onChange={(event) => {
            setGiven(event.currentTarget.checked ? 'yes' : '');
          }}
        />
      </Group>
      {found.length === 0 ? (
        <Text c="dimmed">{text.serviceSettings.none}</Text>
      ) : (
        <DataTable
          label={text.serviceSettings.title}
          items={found}
          columns={COLUMNS}
          keyOf={({ name }) => name}
          named="name"
          minWidth={640}
          isSortable
        />
      )}
    </Page>
  );
}

const textOf = ({ name, description }: Setting): string => `${name} ${description}`.toLowerCase();

const setting = columnHelper<Setting>();
const COLUMNS = setting.columns([
  setting.accessor('name', {
    header: text.serviceSettings.name,
    cell: ({ row: { original } }) => (
      <>
        <Code>{original.name}</Code>
        <Text size="xs" c="dimmed" maw={560} mt={2}>
          {original.description}
        </Text>
      </>
    ),
  }),
  setting.accessor(valueOf, { id: 'value', header: text.serviceSettings.value, cell: Wrapped }),
  setting.accessor(originOf, { id: 'origin', header: text.serviceSettings.from, cell: Wrapped }),
]);

function valueOf({ value, is_secret, is_set }: Setting): string {
  if (!is_set) return text.serviceSettings.unset;
  if (is_secret) return text.serviceSettings.hidden;
  if (typeof value === 'number' && value >= GROUPED_FROM) return count(value);
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function originOf({ origin, file, variable, is_automatic }: Setting): string {
  const from = text.serviceSettings.origins[origin](file ?? '', variable);
  return is_automatic ? text.serviceSettings.automatic(from) : from;
}
