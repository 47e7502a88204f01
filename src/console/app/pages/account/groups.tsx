import { Anchor, MultiSelect, Group as Row, Table, TextInput } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { text } from '../../messages/index.js';
import {
  listGroupCreate,
  listGroupCreateSchemas,
  listGroupDelete,
  listGroupUpdate,
  type ListGroupListOutput,
} from '../../service/client.js';
import { readingGroups, readingLists } from '../../service/lists.js';
import { useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Empty } from '../../ui/empty.js';
import { useDraft } from '../../ui/draft.js';
import { editing, FormModal } from '../../ui/form-modal.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { prose } from '../../ui/prose.js';
import { When } from '../../ui/when.js';

/** Number of choices shown; others are found by typing. */
const CHOICES_MAX = 100;

type ListGroup = ListGroupListOutput['groups'][number];

/** Groups of lists that are searched as one. */
export function Groups() {
  const account = useAccount();
  const may = useMay();
  const { groups } = useSuspenseQuery(readingGroups(account)).data;
  const { shown, find, more } = useFoundRows(groups, { label: text.groups.find, textOf });
  return (
    <Page title={text.groups.title} lead={text.groups.lead} actions={may(listGroupCreate) ? <GroupForm /> : undefined}>
      {groups.length === 0 ? <Empty step={listGroupCreate}>{text.groups.none}</Empty> : null}
      {find}
      {shown.length === 0 ? null : (
        <Columns
          heads={[text.groups.name, text.lists.title, text.lists.version, text.lists.modified, '']}
          label={text.groups.title}
        >
          {shown.map((group) => (
            <GroupRow key={group.name} group={group} />
          ))}
        </Columns>
      )}
      {more}
    </Page>
  );
}

const textOf = ({ name, lists }: ListGroup): string => [name, ...lists.map(({ list }) => list)].join(' ');

function GroupRow({ group }: { readonly group: ListGroup }) {
  const account = useAccount();
  const may = useMay();
  const remove = useChange(listGroupDelete);
  const { name, lists, current_version, modified_utc } = group;
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Anchor component={Link} to="/$account/group/$group" params={{ account, group: name } as never}>
          {name}
        </Anchor>
      </Table.Th>
      <Table.Td miw={180} style={{ overflowWrap: 'anywhere' }}>
        {lists.map(({ list, version }) => (version === undefined ? list : `${list} (${version})`)).join(', ')}
      </Table.Td>
      <Table.Td>{current_version}</Table.Td>
      <Table.Td>
        <When iso={modified_utc} />
      </Table.Td>
      <Table.Td>
        <Row gap="xs" justify="flex-end">
          {may(listGroupUpdate) ? <GroupForm group={group} /> : null}
          {may(listGroupDelete) ? (
            <ConfirmButton
              label={text.groups.delete}
              short={text.common.delete}
              question={text.groups.deleteQuestion(name)}
              onConfirm={() => remove.mutateAsync({ params: { account, group: name } })}
              button={{ 'aria-label': text.common.deleteOf(name) }}
            />
          ) : null}
        </Row>
      </Table.Td>
    </Table.Tr>
  );
}

function GroupForm({ group }: { readonly group?: ListGroup }) {
  const account = useAccount();
  const create = useChange(listGroupCreate);
  const update = useChange(listGroupUpdate);
  // A group cannot be renamed, so that the name is that of a new one.
  const known = { name: '', members: group?.lists.map(({ list }) => list) ?? [] };
  const { value, changes, set, forget } = useDraft(known);
  const { name, members } = value;
  const submit = async (): Promise<void> => {
    // A member that was fixed to a version keeps it.
    const lists = members.map((list) => group?.lists.find((each) => each.list === list) ?? { list });
    if (group === undefined) {
      await create.mutateAsync({ params: { account }, body: { name, lists } });
    } else {
      const body = changes.members === undefined ? {} : { lists };
      await update.mutateAsync({ params: { account, group: group.name }, body });
    }
    forget();
  };
  return (
    <FormModal
      {...(group === undefined ? { label: text.groups.make } : editing(group.name))}
      place={group === undefined ? 'new-group' : `group:${group.name}`}
      button={group === undefined ? { size: 'sm' } : { variant: 'default' }}
      onSubmit={submit}
    >
      {group === undefined ? (
        <TextInput
          label={text.groups.name}
          description={text.lists.nameHint}
          required
          data-autofocus
          value={name}
          onChange={(event) => {
            set({ name: event.currentTarget.value });
          }}
        />
      ) : null}
      <Members
        value={members}
        onChange={(chosen) => {
          set({ members: chosen });
        }}
      />
    </FormModal>
  );
}

interface MembersProps {
  readonly value: string[];
  readonly onChange: (members: string[]) => void;
}

/** Reads the lists, of which there may be thousands, only when the form is open. */
function Members({ value, onChange }: MembersProps) {
  const account = useAccount();
  const { data, error, isLoading } = useQuery(readingLists(account));
  return (
    <>
      <MultiSelect
        label={text.lists.title}
        description={prose(listGroupCreateSchemas.body.properties.lists.description)}
        data={data?.lists.map((list) => list.name) ?? value}
        value={value}
        onChange={onChange}
        searchable
        limit={CHOICES_MAX}
        placeholder={isLoading ? text.common.loading : ''}
      />
      <Problem error={error} />
    </>
  );
}
