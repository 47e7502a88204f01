import {
  Badge,
  Checkbox,
  Group,
  NativeSelect,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import {
  apiKeyCreate,
  apiKeyCreateSchemas,
  apiKeyDelete,
  apiKeyList,
  permissions as allPermissions,
  type ApiKeyCreateInput,
  type ApiKeyListOutput,
} from '../../service/client.js';
import { readingGroups, readingLists } from '../../service/lists.js';
import { readingAll, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Empty } from '../../ui/empty.js';
import { FormModal } from '../../ui/form-modal.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { prose } from '../../ui/prose.js';
import { SecretOnce } from '../../ui/secret.js';
import { When } from '../../ui/when.js';

/** Number of choices shown; others are found by typing. */
const CHOICES_MAX = 100;

type Draft = ApiKeyCreateInput['body'];
type Key = ApiKeyListOutput['keys'][number];

const { scope, access, name, region } = apiKeyCreateSchemas.body.properties;

export function ApiKeys() {
  const account = useAccount();
  const may = useMay();
  const [secret, setSecret] = useState<string>();
  const { keys } = useSuspenseQuery(readingAll(apiKeyList, { params: { account } })).data;
  const { shown, find, more } = useFoundRows(keys, { label: text.keys.find, textOf });
  return (
    <Page
      title={text.keys.title}
      lead={text.keys.lead}
      actions={may(apiKeyCreate) ? <NewKey onSecret={setSecret} /> : undefined}
    >
      {secret === undefined ? null : <SecretOnce title={text.keys.made} secret={secret} />}
      {keys.length === 0 ? <Empty step={apiKeyCreate}>{text.keys.none}</Empty> : null}
      {find}
      {shown.length === 0 ? null : (
        <Columns
          heads={[
            text.keys.name,
            text.keys.key,
            text.keys.scope,
            text.keys.access,
            text.keys.created,
            text.keys.expires,
            text.keys.lastUsed,
            '',
          ]}
          label={text.keys.title}
          minWidth={960}
        >
          {shown.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </Columns>
      )}
      {more}
    </Page>
  );
}

/** Includes the last characters, for somebody who looks for the owner of a key. */
const textOf = ({ name: called, last_four, scope_target }: Key): string =>
  `${called} ${last_four} ${scope_target ?? ''}`;

function KeyRow({ apiKey }: { readonly apiKey: Key }) {
  const account = useAccount();
  const may = useMay();
  const remove = useChange(apiKeyDelete);
  const { id, permissions, expires_at: expires } = apiKey;
  const isExpired = expires !== null && Date.parse(expires) < Date.now();
  return (
    <Table.Tr>
      <Table.Th scope="row" miw={140} style={{ overflowWrap: 'anywhere' }}>
        {apiKey.name}
      </Table.Th>
      <Table.Td title={text.keys.inTheLog(id)}>{`gnt_${apiKey.region}_…${apiKey.last_four}`}</Table.Td>
      <Table.Td>
        {apiKey.scope === 'account'
          ? text.keys.scopes.account
          : `${text.keys.scopes[apiKey.scope]} ${apiKey.scope_target ?? ''}`}
      </Table.Td>
      <Table.Td>
        <Text size="sm" lineClamp={2} title={permissions.join(', ')}>
          {permissions.length === 0 ? text.keys.full : permissions.join(', ')}
        </Text>
      </Table.Td>
      <Table.Td>
        <When iso={apiKey.created_utc} />
      </Table.Td>
      <Table.Td>
        {isExpired ? (
          <Badge color="red" variant="light">
            {text.keys.expired}
          </Badge>
        ) : (
          <When iso={expires} />
        )}
      </Table.Td>
      <Table.Td>
        <LastUse apiKey={apiKey} />
      </Table.Td>
      <Table.Td>
        {may(apiKeyDelete) ? (
          <Group justify="flex-end">
            <ConfirmButton
              label={text.keys.delete}
              short={text.common.delete}
              question={text.keys.deleteQuestion(apiKey.name)}
              onConfirm={() => remove.mutateAsync({ params: { account, id } })}
              button={{ 'aria-label': text.common.deleteOf(apiKey.name) }}
            />
          </Group>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}

function LastUse({ apiKey: { last_used_utc: used, use_known_since_utc: since } }: { readonly apiKey: Key }) {
  if (used !== null) return <When iso={used} />;
  return (
    <Text size="sm" c="dimmed">
      {text.keys.notSince} <When iso={since} />
    </Text>
  );
}

/** True for keys of an account. Keys of lists and groups have the region of their target. */
function takesRegion({ scope: reach = 'account' }: Draft): boolean {
  return reach === 'account';
}

const NEW: Draft = { name: '', scope: 'account', access: 'search-and-read' };

function NewKey({ onSecret }: { readonly onSecret: (secret: string) => void }) {
  const account = useAccount();
  const create = useChange(apiKeyCreate);
  const [draft, setDraft] = useState<Draft>(NEW);
  const set = (change: Partial<Draft>): void => {
    setDraft({ ...draft, ...change });
  };
  const submit = async (): Promise<void> => {
    const { region: named = '', ...others } = draft;
    const body = takesRegion(draft) && named !== '' ? draft : others;
    const { key } = await create.mutateAsync({ params: { account }, body });
    onSecret(key);
    setDraft(NEW);
  };
  return (
    <FormModal label={text.keys.make} place="new-key" button={{ size: 'sm' }} onSubmit={submit}>
      <TextInput
        label={text.keys.name}
        description={prose(name.description)}
        maxLength={name.maxLength}
        required
        data-autofocus
        value={draft.name}
        onChange={(event) => {
          set({ name: event.currentTarget.value });
        }}
      />
      <Scope draft={draft} onChange={set} />
      {takesRegion(draft) ? <Region draft={draft} onChange={set} /> : null}
      <Radio.Group
        label={text.keys.access}
        value={draft.access ?? ''}
        onChange={(value) => {
          const { permissions: _, ...rest } = draft;
          const chosen = value as NonNullable<Draft['access']>;
          setDraft({ ...rest, access: chosen, ...(chosen === 'custom' ? { permissions: [] } : {}) });
        }}
      >
        <Stack gap={6} mt={4}>
          {access.enum.map((preset) => (
            <Radio key={preset} value={preset} label={text.keys.presets[preset]} />
          ))}
        </Stack>
      </Radio.Group>
      {draft.access === 'custom' ? (
        <Permissions
          chosen={draft.permissions ?? []}
          onChange={(permissions) => {
            set({ permissions });
          }}
        />
      ) : null}
      <TextInput
        type="date"
        min={new Date().toISOString().slice(0, 10)}
        label={text.keys.expires}
        description={text.keys.expiresHint}
        value={draft.expires_at ?? ''}
        onChange={(event) => {
          const { expires_at: _, ...rest } = draft;
          const day = event.currentTarget.value;
          setDraft(day === '' ? rest : { ...rest, expires_at: day });
        }}
      />
    </FormModal>
  );
}

interface PartProps {
  readonly draft: Draft;
  readonly onChange: (change: Partial<Draft>) => void;
}

function Region({ draft, onChange }: PartProps) {
  return (
    <TextInput
      label={text.keys.region}
      description={text.keys.regionHint}
      pattern={region.pattern}
      value={draft.region ?? ''}
      onChange={(event) => {
        onChange({ region: event.currentTarget.value });
      }}
    />
  );
}

function Scope({ draft, onChange }: PartProps) {
  const { targets, error, isLoading } = useTargets(draft);
  const chosen = draft.scope ?? 'account';
  return (
    <>
      <NativeSelect
        label={text.keys.scope}
        description={text.keys.scopeHint}
        data={scope.enum.map((value) => ({ value, label: text.keys.scopes[value] }))}
        value={chosen}
        onChange={(event) => {
          const next = event.currentTarget.value as NonNullable<Draft['scope']>;
          onChange({ scope: next, scope_target: null });
        }}
      />
      {chosen === 'account' ? null : (
        <Select
          label={text.keys.scopes[chosen]}
          data={targets}
          placeholder={isLoading ? text.common.loading : ''}
          value={draft.scope_target ?? null}
          searchable
          required
          allowDeselect={false}
          limit={CHOICES_MAX}
          onChange={(target) => {
            onChange({ scope_target: target });
          }}
        />
      )}
      <Problem error={error} />
    </>
  );
}

/** Returns the names of possible targets. Read only when needed, since there may be thousands. */
function useTargets({ scope: reach }: Draft) {
  const account = useAccount();
  const lists = useQuery({ ...readingLists(account), enabled: reach === 'list' });
  const groups = useQuery({ ...readingGroups(account), enabled: reach === 'group' });
  const { error, isLoading } = reach === 'list' ? lists : groups;
  const found = reach === 'list' ? lists.data?.lists : reach === 'group' ? groups.data?.groups : undefined;
  return { targets: (found ?? []).map((target) => target.name), error: reach === 'account' ? null : error, isLoading };
}

/** `[area, actions]`, in the order of the service. */
const AREAS = Object.entries(Object.groupBy(allPermissions, (permission) => permission.split(':')[0] ?? '')).map(
  ([area, named = []]) => [area, named.map((permission) => permission.slice(area.length + 1))] as const,
);

interface PermissionsProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Permissions by area, as the service groups them. */
function Permissions({ chosen, onChange }: PermissionsProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {AREAS.map(([area, actions]) => (
        <Checkbox.Group
          key={area}
          label={area}
          value={chosen.filter((each) => each.startsWith(`${area}:`))}
          onChange={(value) => {
            onChange([...chosen.filter((each) => !each.startsWith(`${area}:`)), ...value]);
          }}
        >
          <Stack gap={4} mt={4}>
            {actions.map((action) => (
              <Checkbox key={action} size="xs" value={`${area}:${action}`} label={action} />
            ))}
          </Stack>
        </Checkbox.Group>
      ))}
    </SimpleGrid>
  );
}
